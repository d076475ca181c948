#include "tools/jobs/draw_data.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/data/npy.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_reader.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

class Listener : public Observer {
 public:
  void OnWork(const Work& work) override { stop_ = work.done >= stop_at; }
  void OnSaved(const std::string& path) override { saved.push_back(path); }
  bool StopRequested() override { return stop_; }

  int64_t stop_at = INT64_MAX;
  std::vector<std::string> saved;

 private:
  bool stop_ = false;
};

TEST(DrawData, WritesRowsAndPoints) {
  const TempDir folder;
  DrawDataOptions options;
  options.name = "pinwheel";
  options.rows = 5000;
  options.seed = 3;
  options.output = folder.File("x.bits.npy");
  options.planar = folder.File("xy.npy");
  Listener listener;
  const DrawDataResult result = DrawData(options, listener);
  EXPECT_EQ(result.rows, 5000);
  EXPECT_EQ(result.columns, 32);
  EXPECT_THAT(result.row, testing::StartsWith("32 bits; entropy "));
  EXPECT_THAT(listener.saved, ElementsAre(options.planar, options.output));
  std::vector<uint8_t> expected(5000 * 32);
  DrawPlanarRows(FindPlanarDensity("pinwheel"), 3, 0, expected);
  EXPECT_EQ(ReadRows(options.output, {.columns = 32}).values, expected);
  const NpyArray points = ReadNpy(options.planar);
  EXPECT_THAT(points.shape, ElementsAre(5000, 2));
  EXPECT_EQ(static_cast<float>(points.values[2 * 4999]),
            static_cast<float>(DrawPlanarPoint(FindPlanarDensity("pinwheel"), 3, 4999).x));
}

TEST(DrawData, WritesSpinsAndCouplings) {
  const TempDir folder;
  DrawDataOptions options;
  options.name = {"ising", {{"shape", "1x3"}, {"steps", int64_t{10}}, {"sigma", 0.25}}};
  options.rows = 4;
  options.output = folder.File("x.npy");
  options.couplings = folder.File("J.npy");
  Listener listener;
  EXPECT_EQ(DrawData(options, listener).row, "3 spins");
  EXPECT_EQ(ReadRows(options.output).rows, 4);
  EXPECT_THAT(ReadNpy(options.couplings).values, ElementsAre(0, 0.25, 0.25, 0.25, 0, 0.25, 0.25, 0.25, 0));
}

TEST(DrawData, StoppedOrRefusedItLeavesNothing) {
  const TempDir folder;
  DrawDataOptions options;
  options.name = "moons";
  options.rows = 20000;
  options.output = folder.File("x.npy");
  options.planar = folder.File("xy.npy");
  Listener listener;
  listener.stop_at = 5000;
  ExpectError(ErrorCode::kInterrupted, [&] { DrawData(options, listener); });
  options.name = "moon";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { DrawData(options, listener); }, "set must be one of");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ort_ed
