#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/support/files/atomic_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/file_contents.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

TEST(ImputeCommand, WritesProbabilitiesWhereCellsWereEmpty) {
  const TempDir folder;
  const std::string model = folder.File("model.onnx"), rows = folder.File("holes.csv"),
                    output = folder.File("filled.csv");
  WriteFileAtomically(model, LinearModel(3));
  WriteFileAtomically(rows, "a,b,c\n1,,0\n?,1,1\n");
  const CommandResult result = RunOrtEd({"impute", model, rows, "-o", output, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["missing"], 2);
  EXPECT_THAT(FileContents(output), testing::MatchesRegex("a,b,c\n1,0\\.1192[0-9]*,0\n0\\.2689[0-9]*,1,1\n"));
}

TEST(ImputeCommand, RefusesWhatItCannotDo) {
  const TempDir folder;
  const std::string model = folder.File("model.onnx"), rows = folder.File("whole.csv"),
                    output = folder.File("filled.csv");
  WriteFileAtomically(model, LinearModel(3));
  WriteFileAtomically(rows, "1,0,0\n");
  const CommandResult whole = RunOrtEd({"impute", model, rows, "-o", output});
  EXPECT_EQ(whole.exit_code, 1);
  EXPECT_THAT(whole.err, testing::HasSubstr("nothing to fill in"));
  EXPECT_EQ(FileContents(output), "");
  EXPECT_EQ(RunOrtEd({"impute", model, rows}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"impute", model, rows, "-o", rows}).exit_code, 2);
}

}  // namespace
}  // namespace ort_ed
