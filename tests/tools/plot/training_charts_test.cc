#include "tools/plot/training_charts.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/plot/compare_picture.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

const std::vector<MetricsLine> kBase = {
    {10, 1, {{"validation_loss", 9}, {"validation_nll", 9}}},
    {20, 2, {{"loss", 6}, {"learning_rate", 0.1}, {"validation_loss", 7}, {"validation_nll", 7}}}};
const std::vector<MetricsLine> kRun = {{0, 3, {{"validation_nll", 6.9}}},
                                       {5, 4, {{"loss", 0.3}, {"acceptance", 0.5}}},
                                       {10, 5, {{"loss", 0.2}, {"validation_nll_rough", 6.5}}}};

std::vector<std::string> TitlesOf(const std::vector<LineChart>& charts) {
  std::vector<std::string> titles;
  for (const LineChart& chart : charts) titles.push_back(chart.title);
  return titles;
}

TEST(TrainingCharts, LikelihoodFirstAndTheBaseInFrontOfTheNetwork) {
  const std::vector<LineChart> charts = TrainingCharts({kRun, kBase});
  EXPECT_THAT(TitlesOf(charts), ElementsAre("validation nats per row", "loss", "acceptance", "the base: loss",
                                            "the base: learning rate"));
  const LineChart& nats = charts.front();
  EXPECT_EQ(nats.x_label, "step; those of the base, 20, come first");
  ASSERT_EQ(nats.series.size(), 3u);
  EXPECT_EQ(nats.series[0].name, "the base");
  EXPECT_THAT(nats.series[0].x, ElementsAre(10, 20));
  EXPECT_EQ(nats.series[1].name, "with the network");
  EXPECT_THAT(nats.series[1].x, ElementsAre(20));
  EXPECT_THAT(nats.series[1].y, ElementsAre(6.9));
  EXPECT_EQ(nats.series[2].name, "with the network, rough");
  EXPECT_THAT(nats.series[2].x, ElementsAre(30));
}

TEST(TrainingCharts, OfARunWithoutABaseAreOfItsSteps) {
  const std::vector<LineChart> charts = TrainingCharts({.run = kRun});
  EXPECT_THAT(TitlesOf(charts), ElementsAre("validation nats per row", "loss", "acceptance"));
  EXPECT_EQ(charts[0].x_label, "step");
  EXPECT_EQ(charts[0].series[0].name, "validation nll");
  EXPECT_THAT(charts[0].series[0].x, ElementsAre(0));
  EXPECT_TRUE(TrainingCharts({}).empty());
}

TEST(LikelihoodSeries, GoesOnWhereTheBaseEnds) {
  const LineSeries series = LikelihoodSeries({kRun, kBase});
  EXPECT_THAT(series.x, ElementsAre(10, 20, 20));
  EXPECT_THAT(series.y, ElementsAre(9, 7, 6.9));
}

class PictureOfComparedModels : public testing::Test {
 protected:
  ModelSource Source(const std::string& name, const std::vector<MetricsLine>& lines = {}) {
    WriteBytes(dir_.File(name), LinearModel(3));
    ModelSource source = OpenSource(dir_.File(name), {});
    source.metrics.run = lines;
    return source;
  }

  static Canvas Draw(const std::vector<ModelSource>& sources) {
    CompareResult result;
    result.models.resize(sources.size());
    for (ComparedModel& model : result.models) model.row_differences = {0, 1, 1, 2};
    return ComparePicture(sources, result);
  }

  static int64_t CountOf(const Canvas& canvas, Color color) {
    return std::ranges::count(canvas.pixels(), color);
  }

  TempDir dir_;
};

TEST_F(PictureOfComparedModels, TellsWhoseTheOnlyCurveIs) {
  const ModelSource first = Source("a.onnx");
  EXPECT_NE(Draw({first, Source("b.onnx", kRun)}).Png(), Draw({first, Source("other.onnx", kRun)}).Png());
}

TEST_F(PictureOfComparedModels, AModelHasOneColourInAllCharts) {
  const Canvas canvas = Draw({Source("a.onnx"), Source("b.onnx", kRun)});
  EXPECT_EQ(CountOf(canvas, SeriesColor(0)), 0);
  EXPECT_GT(CountOf(canvas, SeriesColor(1)), 200);
}

}  // namespace
}  // namespace ort_ed
