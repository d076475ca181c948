#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class Extending : public testing::Test {
 protected:
  Extending() {
    std::ofstream file(data_);
    for (int row = 0; row < 40; ++row)
      file << (row % 2) << "," << (row % 3 > 0) << "," << (row % 5 > 0) << "\n";
  }

  CommandResult Train(const Words& options) {
    Words words = {"train", "--data",      data_, "--steps", "3",  "--batch-size",
                   "8",     "--log-every", "1",   "-o",      Run()};
    words.insert(words.end(), options.begin(), options.end());
    return RunOrtEd(words);
  }

  std::string Run() { return folder_.File("run"); }
  std::string Config() {
    std::ifstream file(Run() + "/config.toml");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir folder_;
  std::string data_ = folder_.File("rows.csv");
};

TEST_F(Extending, APerturbationIsOneFileAndARow) {
  EXPECT_EQ(Train({"--method", "toy", "--toy-bits", "3"}).exit_code, 0);
  EXPECT_THAT(Config(), HasSubstr("toy_bits = 3"));
  EXPECT_THAT(RunOrtEd({"train", "--help"}).out, HasSubstr("--toy-bits N"));
}

TEST_F(Extending, ItsOptionIsCheckedAndRefusedWhereItHasNoEffect) {
  const CommandResult wrong = Train({"--method", "toy", "--toy-bits", "0"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--toy-bits must lie in [1, 64], not 0"));
  const CommandResult idle = Train({"--method", "grid", "--toy-bits", "3"});
  EXPECT_EQ(idle.exit_code, 2);
  EXPECT_THAT(idle.err, HasSubstr("--toy-bits has no effect with --method grid; it belongs to toy"));
}

TEST_F(Extending, AnObjectiveIsOneFileAndARow) {
  EXPECT_EQ(Train({"--objective", "toy", "--toy-scale", "0.5"}).exit_code, 0);
  EXPECT_THAT(Config(), HasSubstr("toy_scale = 0.5"));
}

TEST_F(Extending, AnArchitectureIsOneFileAndARow) {
  EXPECT_EQ(Train({"--model", "toy", "--toy-weight", "2"}).exit_code, 0);
  const std::string model = folder_.File("toy.onnx");
  EXPECT_EQ(RunOrtEd({"new", "toy", "-D", "3", "--toy-weight", "1", "-o", model}).exit_code, 0);
  EXPECT_THAT(RunOrtEd({"inspect", model}).out, HasSubstr("toy"));
}

TEST_F(Extending, ABaseIsOneFileAndARow) {
  EXPECT_EQ(Train({"--base", "toy", "--toy-mean", "0.25"}).exit_code, 0);
  EXPECT_THAT(RunOrtEd({"inspect", Run() + "/model.onnx"}).out, HasSubstr("0.25,0.25,0.25"));
}

TEST_F(Extending, ASamplerIsOneFileAndARow) {
  const std::string model = folder_.File("toy.onnx");
  ASSERT_EQ(RunOrtEd({"new", "toy", "-D", "3", "-o", model}).exit_code, 0);
  const CommandResult ones = RunOrtEd(
      {"sample", model, "-n", "2", "--steps", "2", "--sampler", "toy", "--toy-value", "1", "-o", "-"});
  EXPECT_EQ(ones.exit_code, 0) << ones.err;
  EXPECT_EQ(ones.out, "1,1,1\n1,1,1\n");
}

TEST_F(Extending, AJobWithItsCommandIsOneFileAndARow) {
  EXPECT_EQ(RunOrtEd({"toy", "2", "--b", "5"}).out, "7\n");
  EXPECT_THAT(RunOrtEd({"--help"}).out, HasSubstr("add two numbers"));
}

}  // namespace
}  // namespace ort_ed
