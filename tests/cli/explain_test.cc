#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/support/files/atomic_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/file_contents.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/picture/canvas.h"

namespace ort_ed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ExplainCommand : public testing::Test {
 protected:
  ExplainCommand() {
    WriteFileAtomically(model_, LinearModel(3));
    WriteFileAtomically(rows_, "red,green,<b>\n1,0,1\n0,0,0\n");
  }

  TempDir folder_;
  std::string model_ = folder_.File("model.onnx");
  std::string rows_ = folder_.File("rows.csv");
};

TEST_F(ExplainCommand, TellsWhatSurprisesByName) {
  const CommandResult result = RunOrtEd({"explain", model_, rows_, "--top", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "row 1: energy 4.0000, all variables given the others -4.4888 nats\n"
            "  <b>  is 1 with probability 0.047, expected 0 with 0.953\n"
            "  red  is 1 with probability 0.269, expected 0 with 0.731\n"
            "row 2: energy 0.0000, all variables given the others -0.4888 nats\n"
            "  red    is 0 with probability 0.731, as expected\n"
            "  green  is 0 with probability 0.881, as expected\n");
}

TEST_F(ExplainCommand, EverythingAsJson) {
  const CommandResult result = RunOrtEd({"explain", model_, rows_, "--json", "--top", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"].size(), 2u);
  const auto& first = json["rows"][0];
  EXPECT_EQ(first["row"], 1);
  EXPECT_EQ(first["energy"], 4);
  EXPECT_EQ(first["surprising"].size(), 1u);
  EXPECT_EQ(first["surprising"][0]["column"], 3);
  EXPECT_EQ(first["surprising"][0]["name"], "<b>");
  EXPECT_EQ(first["surprising"][0]["expected"], 0);
  EXPECT_NEAR(first["surprising"][0]["log_probability"], -std::log1p(std::exp(3.0)), 1e-6);
  EXPECT_EQ(json["variables"][1]["name"], "green");
  EXPECT_NEAR(json["variables"][1]["mean_log_probability"], -std::log1p(std::exp(-2.0)), 1e-6);
}

TEST_F(ExplainCommand, WritesConditionalsAndAPicture) {
  const std::string csv = folder_.File("conditionals.csv"), png = folder_.File("odd.png");
  const CommandResult result = RunOrtEd({"explain", model_, rows_, "--conditionals", csv, "-o", png});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(FileContents(csv), testing::StartsWith("red,green,<b>\n-1.3132"));
  EXPECT_GT(DecodePng(FileContents(png)).width(), 300);
}

TEST_F(ExplainCommand, ImagesAreDrawnAsImages) {
  WriteFileAtomically(model_, WithMetadata(LinearModel(4), "ort_ed.image_shape", "2x2"));
  WriteFileAtomically(rows_, "1,0,1,0\n");
  const std::string png = folder_.File("odd.png");
  ASSERT_EQ(RunOrtEd({"explain", model_, rows_, "-o", png}).exit_code, 0);
  const Canvas canvas = DecodePng(FileContents(png));
  // The image to the left, its colours to the right: the third pixel surprises most, the fourth hardly.
  const auto pixel = [&](int x, int y) { return canvas.At(14 + 12 * x + 6, 32 + 12 * y + 6).green; };
  EXPECT_LT(pixel(0, 0), 60);
  EXPECT_EQ(pixel(1, 0), 255);
  const auto surprise = [&](int x, int y) { return canvas.At(14 + 27 + 12 * x + 6, 32 + 12 * y + 6).green; };
  EXPECT_LT(surprise(0, 1), surprise(0, 0));
  EXPECT_LT(surprise(0, 0), surprise(1, 1));
}

// A table of two columns, and a model of them.
class ExplainTable : public ExplainCommand {
 protected:
  ExplainTable() {
    WriteFileAtomically(model_,
                        WithMetadata(LinearModel(4), "ort_ed.variables",
                                     R"([{"name": "size", "kind": "nominal", "labels": ["S", "M", "L"]},)"
                                     R"({"name": "new", "kind": "binary", "labels": ["no", "yes"]}])"));
    WriteFileAtomically(rows_, "customer,size,new\nC1,L,yes\nC2,S,no\n");
  }

  Canvas Picture(const std::vector<std::string>& more) {
    const std::string png = folder_.File("odd.png");
    std::vector<std::string> words = {"explain", model_, rows_, "-o", png};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return DecodePng(FileContents(png));
  }
};

TEST_F(ExplainTable, ThePictureNamesRowsByTheirId) {
  const Canvas plain = Picture({}), named = Picture({"--id", "customer"});
  EXPECT_NE(plain.Png(), named.Png());
  EXPECT_EQ(plain.height(), named.height());
}

TEST_F(ExplainTable, ThePictureHasNoBarsOfBits) {
  const Canvas canvas = Picture({"--id", "customer"});
  int bars = 0;  // rows of pixels that are black over a whole column
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0, run = 0; x < canvas.width(); ++x) {
      run = canvas.At(x, y) == kInk ? run + 1 : 0;
      bars += run == 20;
    }
  EXPECT_EQ(bars, 0);
}

TEST_F(ExplainCommand, BadInputIsRefusedAndNothingWritten) {
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); };
  const auto before = files();
  WriteFileAtomically(folder_.File("bad.csv"), "1,0,2\n");
  const CommandResult bad =
      RunOrtEd({"explain", model_, folder_.File("bad.csv"), "-o", folder_.File("out.png")});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.csv"), HasSubstr("column 3")));
  EXPECT_EQ(RunOrtEd({"explain", model_, rows_, "--top", "0"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"explain", model_}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"explain", model_, rows_, "-o", folder_.File("out.jpg")}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"explain", model_, rows_, "--conditionals", rows_}).exit_code, 2);
  EXPECT_EQ(files(), before + 1);
}

}  // namespace
}  // namespace ort_ed
