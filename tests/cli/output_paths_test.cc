// No command writes over what it reads: not over its inputs, nor over files that belong to them.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class OutputPaths : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }

  void ExpectRefused(const Words& words, const std::string& file) {
    const std::string before = ReadBytes(file);
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, 2) << words[0] << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("would overwrite '" + file + "'"));
    EXPECT_TRUE(ReadBytes(file) == before) << words[0];
  }

  TempDir folder_;
};

TEST_F(OutputPaths, AreNotFilesInWhichAModelKeepsItsTensors) {
  const std::string model = File("m.onnx"), rows = File("rows.csv");
  WriteBytes(rows, "0,1,0\n1,1,0\n");
  for (const std::string name : {"w.csv", "w.onnx", "w.png", "w.html"}) {
    const auto external = WithExternalData(LinearModel(3), "w", name);
    WriteBytes(model, external.model);
    WriteBytes(File(name), external.values);
    const std::string link = File("link-" + name);
    std::filesystem::create_symlink(File(name), link);
    for (const std::string& file : {File(name), link}) {
      if (name == "w.csv") {
        ExpectRefused({"score", model, rows, "-o", file}, file);
        ExpectRefused({"sample", model, "-n", "2", "-o", file}, file);
        ExpectRefused({"impute", model, rows, "-o", file}, file);
        ExpectRefused({"inspect", model, "--couplings", file}, file);
      }
      if (name == "w.onnx") ExpectRefused({"export", model, "-o", file}, file);
      if (name == "w.html") ExpectRefused({"report", model, "--data", rows, "-o", file}, file);
      if (name != "w.png") continue;
      ExpectRefused({"eval", model, "--data", rows, "--png", file}, file);
      ExpectRefused({"explain", model, rows, "-o", file}, file);
      ExpectRefused({"compare", model, model, "--data", rows, "-o", file}, file);
      ExpectRefused({"plot", "energies", model, "--data", rows, "-o", file}, file);
    }
  }
}

TEST_F(OutputPaths, AreNotFilesOfTheRunThatIsRead) {
  const std::string run = File("run");
  const Words training = {"train", "--data", "synth:moons", "--hidden", "4", "--steps", "2", "-o", run};
  ASSERT_EQ(RunOrtEd(training).exit_code, 0);
  for (const std::string name : {"config.toml", "metrics.jsonl", "checkpoints/step-2.ckpt"}) {
    const std::string file = run + "/" + name;
    ASSERT_TRUE(std::filesystem::exists(file)) << name;
    ExpectRefused({"export", run, "-o", file}, file);
  }
  EXPECT_EQ(RunOrtEd({"export", run, "--with-gradient", "-o", run + "/model.onnx"}).exit_code, 0);
  EXPECT_EQ(RunOrtEd({"plot", "curves", run, "-o", run + "/curves.png"}).exit_code, 0);
}

TEST_F(OutputPaths, AModelIsNotExportedOverItself) {
  WriteBytes(File("m.onnx"), LinearModel(3));
  ExpectRefused({"export", File("m.onnx"), "-o", File("m.onnx")}, File("m.onnx"));
}

}  // namespace
}  // namespace ort_ed
