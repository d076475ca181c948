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

using testing::HasSubstr;

class CompareCommand : public testing::Test {
 protected:
  CompareCommand() {
    WriteFileAtomically(a_, WithMetadata(LinearModel(3), "ort_ed.training", R"({"seed": 1, "w": 2})"));
    WriteFileAtomically(b_, WithMetadata(LinearModel(3), "ort_ed.training", R"({"seed": 2, "w": 2})"));
    WriteFileAtomically(rows_, "1,0,0\n0,1,1\n0,0,0\n");
  }

  TempDir folder_;
  std::string a_ = folder_.File("a.onnx"), b_ = folder_.File("b.onnx"), rows_ = folder_.File("rows.csv");
};

TEST_F(CompareCommand, PrintsATableAndTheSettingsThatDiffer) {
  const CommandResult result = RunOrtEd({"compare", a_, "--data", rows_, b_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("against the first"));
  EXPECT_THAT(result.out, HasSubstr("0.0000 +- 0.0000"));
  EXPECT_THAT(result.out, HasSubstr("settings that differ\n  seed  1  2\n"));
}

TEST_F(CompareCommand, JsonAndPicture) {
  const std::string png = folder_.File("compare.png");
  const CommandResult result = RunOrtEd({"compare", a_, b_, a_, "--data", rows_, "--json", "-o", png});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][1]["difference"]["mean"], 0);
  EXPECT_EQ(json["models"][1]["log_z"]["standard_error"], 0);
  EXPECT_EQ(json["settings"]["seed"], nlohmann::json({"1", "2", "1"}));
  EXPECT_GT(DecodePng(FileContents(png)).width(), 300);
}

TEST_F(CompareCommand, MisuseIsRefused) {
  EXPECT_EQ(RunOrtEd({"compare", a_, "--data", rows_}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"compare", "--data", rows_}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"compare", a_, b_}).exit_code, 2);
  const CommandResult none = RunOrtEd({"compare", a_, folder_.File("none"), "--data", rows_});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("none"));
  const CommandResult no_run = RunOrtEd({"compare", a_, folder_.path(), "--data", rows_});
  EXPECT_EQ(no_run.exit_code, 1) << no_run.err;
}

}  // namespace
}  // namespace ort_ed
