#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/graph_builder.h"
#include "ort_ed/metadata.h"
#include "runtime/data/row_writer.h"
#include "runtime/support/files/atomic_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/picture/canvas.h"
#include "tools/picture/color_map.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;

// U = -s^T J s.
std::string IsingModel(const std::vector<float>& couplings, int64_t n) {
  onnx::ModelProto model;
  GraphBuilder builder(model);
  const Value x = builder.Input(kInputName, std::vector<int64_t>{-1, n});
  const Value s = x * 2.0f - 1.0f;
  const Value j = builder.Parameter("J", std::vector<int64_t>{n, n}, couplings);
  builder.Output(builder.Named(-ReduceSum(s * MatMul(s, j), {1}), kEnergyOutputName),
                 std::vector<int64_t>{-1});
  return model.SerializeAsString();
}

class PlotTest : public ::testing::Test {
 protected:
  Canvas Plot(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plot");
    arguments.insert(arguments.end(), {"-o", picture_});
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    log_ = result.err;
    return DecodePng(ReadBytes(picture_));
  }

  void ExpectFailure(std::vector<std::string> arguments, int exit_code, const std::string& message) {
    arguments.insert(arguments.begin(), "plot");
    arguments.insert(arguments.end(), {"-o", picture_});
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(picture_));
  }

  TempDir folder_;
  std::string picture_ = folder_.File("picture.png");
  std::string model_ = folder_.File("model.onnx");
  std::string log_;
};

// An energy of 20 x_0 puts all mass where the first coordinate is positive: x_0 is its sign bit.
TEST_F(PlotTest, LandscapeShowsWhereTheModelPutsItsMass) {
  std::vector<float> field(32 * 32);
  WriteFileAtomically(model_, IsingModel(field, 32));
  const Canvas flat = Plot({"landscape", model_, "--density", "checkerboard", "--grid", "32"});
  std::string text =
      "<ir_version: 8, opset_import: [\"\": 17]> g (float[n, 32] x) => (float[n] energy) {"
      " from = Constant<value_ints = [0]>() to = Constant<value_ints = [1]>()"
      " axis = Constant<value_ints = [1]>() twenty = Constant<value_float = 20.0>()"
      " sign = Slice(x, from, to, axis) flat = Squeeze(sign, axis) energy = Mul(flat, twenty) }";
  WriteFileAtomically(model_, ModelFromText(text));
  const Canvas half = Plot({"landscape", model_, "--density", "checkerboard", "--grid", "32"});
  ASSERT_EQ(half.width(), flat.width());
  // The middle panel: dark to the left of its centre, brighter than the flat model's to the right.
  const int panel = (half.width() - 16) / 3, centre = panel + 8 + 36 + 188, y = 200;
  EXPECT_EQ(half.At(centre - 100, y), ColorMap::Sequential().At(0));
  EXPECT_NE(half.At(centre + 100, y), ColorMap::Sequential().At(0));
  EXPECT_GT(half.At(centre + 100, y).green, flat.At(centre + 100, y).green);
  EXPECT_EQ(flat.At(centre - 100, y), flat.At(centre + 100, y));
}

TEST_F(PlotTest, CouplingsAreThoseOfTheModel) {
  const std::vector<float> couplings = {0, 0.25f, -0.5f, 0.25f, 0, 0, -0.5f, 0, 0};
  WriteFileAtomically(model_, IsingModel(couplings, 3));
  const auto writer = CreateFloatFile(folder_.File("J.npy"), {.columns = 3});
  writer->Write(couplings);
  writer->Commit();
  const Canvas canvas = Plot({"couplings", model_, "--truth", folder_.File("J.npy")});
  EXPECT_THAT(log_, HasSubstr("-log RMSE"));
  // Both halves are the same picture but for the title.
  const int half = (canvas.width() - 16) / 2;
  for (int x = 40; x < 480; ++x)
    for (int y = 45; y < canvas.height(); ++y)
      ASSERT_EQ(canvas.At(x, y), canvas.At(x + half, y)) << x << " " << y;
}

TEST_F(PlotTest, SamplesPlanarAndEnergies) {
  const std::string rows = folder_.File("x.npy");
  ASSERT_EQ(RunOrtEd({"data", "moons", "-n", "30", "-o", rows}).exit_code, 0);
  EXPECT_EQ(Plot({"samples", rows, "--shape", "4x8", "-n", "6"}).height(), 3 * (4 * 12 + 2) + 2);
  EXPECT_GT(Plot({"planar", rows, "--density", "moons"}).width(), 800);
  WriteFileAtomically(model_, LinearModel(32));
  EXPECT_EQ(Plot({"energies", model_, "--data", rows, "--data", rows}).height(), 396);
}

TEST_F(PlotTest, CurvesOfARun) {
  std::ofstream(folder_.File("metrics.jsonl"))
      << R"({"step": 1, "time": 1.0, "loss": 2.5, "gradient_norm": 3.0})"
         "\n"
      << R"({"step": 2, "time": 2.0, "loss": 1.5, "gradient_norm": 0.3, "validation_loss": 1.7})"
         "\n";
  const Canvas canvas = Plot({"curves", folder_.path()});
  EXPECT_EQ(canvas.width(), 1216);
  EXPECT_EQ(canvas.height(), 396);
}

TEST_F(PlotTest, MistakesAreToldAndLeaveNoPicture) {
  WriteFileAtomically(model_, MlpModel(5, {4}));
  const std::string rows = folder_.File("x.csv");
  WriteBytes(rows, "0,1,0\n");
  ExpectFailure({"histogram", rows}, 1, "kind must be one of landscape, planar, samples");
  ExpectFailure({"samples", rows}, 2, "--shape");
  ExpectFailure({"samples", rows, "--shape", "3"}, 2, "28x28");
  ExpectFailure({"samples", rows, "--shape", "3x-1"}, 2, "28x28");
  ExpectFailure({"samples", rows, "--shape", "2x2"}, 1, "3 columns; 4 are expected");
  ExpectFailure({"samples", rows, "--shape", "1x3", "--truth", rows}, 2,
                "--truth has no effect with kind samples");
  ExpectFailure({"samples", rows, "--shape", "1x3", "--device", "cpu"}, 2, "--device has no effect");
  ExpectFailure({"planar", rows}, 2, "--density");
  ExpectFailure({"planar", rows, "--density", "moon"}, 1, "--density must be one of 2spirals");
  ExpectFailure({"landscape", model_, "--density", "moons"}, 1, "5 variables");
  ExpectFailure({"couplings", model_}, 1, "not quadratic");
  ExpectFailure({"curves", folder_.path()}, 1, "metrics.jsonl' does not exist");
  ExpectFailure({"energies", model_}, 2, "--data");
}

}  // namespace
}  // namespace ort_ed
