#include "tests/golden/workshop.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

constexpr int kRows = 200;

// Every row leans to one of two opposite patterns.
std::string Levels(unsigned seed, int low, int high) {
  std::mt19937 random(seed);
  std::string values;
  for (int row = 0; row < kRows; ++row) {
    const unsigned pattern = random() % 2;
    for (int i = 0; i < kGoldenVariables; ++i) {
      const bool flipped = random() % 6 == 0;
      const bool one = (pattern + i / 4 + flipped) % 2 == 1;
      values += static_cast<char>(one ? high : low);
    }
  }
  return values;
}

std::string Array(const std::string& values) {
  return NpyFile("|u1", std::to_string(kRows) + ", " + std::to_string(kGoldenVariables), values);
}

}  // namespace

Workshop::Workshop() {
  WriteData();
  MakeModels();
}

std::vector<std::string> Workshop::WithPaths(const std::vector<std::string>& arguments) const {
  std::vector<std::string> result;
  for (const std::string& argument : arguments)
    result.push_back(argument.starts_with("@") ? Path(argument.substr(1)) : argument);
  return result;
}

std::string Workshop::Run(const std::vector<std::string>& arguments) const {
  const CommandResult result = RunOrtEd(WithPaths(arguments));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

void Workshop::WriteData() const {
  WriteBytes(Path("bits.npy"), Array(Levels(1, 0, 1)));
  WriteBytes(Path("other.npy"), Array(Levels(2, 0, 1)));
  WriteBytes(Path("grey.npy"), Array(Levels(3, 40, 230)));
  WriteBytes(Path("mask.csv"), "1,1,1,1,1,0,0,0,0,0,0,0\n");
  WriteBytes(Path("holes.csv"), "1,1,1,1,,,,,,,,\n,,,,,,,,0,0,0,0\n1,,1,,1,,1,,1,,1,\n");
}

// With energies that vary by some units, so that samplers have something to do.
void Workshop::MakeModels() const {
  Run({"new", "mlp", "-D", "12", "--hidden", "16,8", "--base-mean", "0.4", "--seed", "7", "-o",
       "@plain_mlp.onnx"});
  Run({"new", "rbm", "-D", "12", "--hidden", "6", "--scale", "1", "--seed", "7", "-o", "@plain_rbm.onnx"});
  Run({"new", "ising", "-D", "12", "--scale", "0.3", "--field", "0.1", "--seed", "7", "-o",
       "@plain_ising.onnx"});
  Run({"new", "resnet", "--image-shape", "3x4", "--channels", "4", "--blocks", "1", "--downsample", "1",
       "--seed", "7", "-o", "@plain_resnet.onnx"});
  for (const std::string name : {"mlp", "rbm", "ising", "resnet"})
    Run({"export", "@plain_" + name + ".onnx", "--with-gradient", "-o", "@" + name + ".onnx"});
  std::filesystem::copy(Path("mlp.onnx"), Path("normalised.onnx"));
  Run({"logz", "@normalised.onnx", "--method", "exact", "--write", "--threads", "1"});
  WriteBytes(Path("mine.onnx"), MlpModel(kGoldenVariables, {8}));
  Run({"train", "--data", "@bits.npy", "--method", "bernoulli", "--hidden", "16", "--steps", "30",
       "--threads", "1", "-o", "@run"});
  Run({"new", "mlp", "-D", "32", "--hidden", "16", "--seed", "7", "-o", "@planar.onnx"});
  Run({"data", "pinwheel", "-n", "100", "-o", "@pinwheel.npy"});
}

}  // namespace ort_ed
