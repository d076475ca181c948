// The command on a device: trains, goes on, scores and samples.
#include <cmath>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/devices/test_device.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;

class CommandOnDevice : public OnDevice {
 protected:
  CommandOnDevice() {
    std::string rows;
    for (int i = 0; i < 200; ++i) rows += i % 3 == 0 ? "1,1,0,0\n" : i % 2 == 0 ? "0,0,1,1\n" : "1,0,1,0\n";
    WriteBytes(dir_.File("rows.csv"), rows);
  }

  CommandResult Run(std::vector<std::string> words, bool on_device = true) const {
    words.insert(words.end(), {"--device", on_device ? ChosenTestDevice().name : "cpu", "--threads", "1"});
    return RunOrtEd(words);
  }
  std::string File(const std::string& name) const { return dir_.File(name); }

 private:
  TempDir dir_;
};

std::vector<double> Numbers(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text.substr(text.find('\n') + 1));
  for (double number; stream >> number;) numbers.push_back(number);
  return numbers;
}

TEST_F(CommandOnDevice, TrainsGoesOnScoresAndSamples) {
  const CommandResult trained =
      Run({"train", "--data", File("rows.csv"), "--model", "mlp", "--hidden", "8", "--method", "bernoulli",
           "--base", "none", "--steps", "6", "--batch-size", "16", "--negatives", "4", "-o", File("run")});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const CommandResult resumed = Run({"train", "--resume", File("run"), "--steps", "8"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const CommandResult scored = Run({"score", File("run/model.onnx"), File("rows.csv")});
  const CommandResult expected = Run({"score", File("run/model.onnx"), File("rows.csv")}, false);
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const std::vector<double> energies = Numbers(scored.out), others = Numbers(expected.out);
  ASSERT_EQ(energies.size(), 200u);
  ASSERT_EQ(others.size(), 200u);
  for (size_t i = 0; i < energies.size(); ++i)
    EXPECT_NEAR(energies[i], others[i], 1e-3 * (1 + std::abs(others[i])));
  const CommandResult sampled =
      Run({"sample", File("run/model.onnx"), "-n", "5", "--sampler", "gibbs", "--steps", "3", "-o", "-"});
  EXPECT_EQ(sampled.exit_code, 0) << sampled.err;
  EXPECT_EQ(std::ranges::count(sampled.out, '\n'), 5) << sampled.out;
}

// ONNX Runtime's WebGPU provider has no Mod, and takes a MaxPool with indices that it then cannot run.
TEST_F(CommandOnDevice, WhatTheDeviceHasNoKernelForIsNamedAndTrains) {
  WriteBytes(File("pool.onnx"), ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[batch, 4] x) => (float[batch] energy) <float[4, 4] w = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8,
      0.9, -1.0, 1.1, 1.2, 1.3, 1.4, -1.5, 1.6}> {
        h = MatMul(x, w) axes = Constant<value_ints = [1]>() i = Unsqueeze(h, axes)
        p = MaxPool<kernel_shape = [2]>(i) all = Constant<value_ints = [1, 2]>() s = ReduceSum<keepdims = 0>(p, all)
        three = Constant<value_float = 3.0>() m = Mod<fmod = 1>(x, three) r = ReduceSum<keepdims = 0>(m, axes)
        energy = Add(s, r) })"));
  const CommandResult trained =
      Run({"train", "--data", File("rows.csv"), "--model", File("pool.onnx"), "--method", "bernoulli",
           "--base", "none", "--steps", "3", "--batch-size", "8", "--negatives", "4", "-o", File("run")});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  if (device().provider != "webgpu") return;
  EXPECT_THAT(trained.err,
              HasSubstr("leaves these operators to the CPU, and their tensors travel in every step: "
                        "MaxPool, Mod"));
}

}  // namespace
}  // namespace ort_ed
