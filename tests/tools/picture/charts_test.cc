#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/data_files.h"
#include "tools/picture/pictures.h"
#include "tools/picture/surprise_picture.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Labels(const Axis& axis, int wanted) {
  std::vector<std::string> labels;
  for (const Tick& tick : Ticks(axis, wanted)) labels.push_back(tick.label);
  return labels;
}

int64_t CountOf(const Canvas& canvas, Color color) {
  return std::count(canvas.pixels().begin(), canvas.pixels().end(), color);
}

TEST(Ticks, AreRoundNumbersThatCoverTheAxis) {
  EXPECT_THAT(Labels({.low = 0, .high = 1}, 5), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(Labels({.low = -4.4, .high = 4.4}, 6), ElementsAre("-4", "-2", "0", "2", "4"));
  EXPECT_THAT(Labels({.low = 36, .high = 0}, 4), ElementsAre("0", "10", "20", "30"));
  EXPECT_THAT(Labels({.low = 0, .high = 0.002}, 4), ElementsAre("0", "0.0005", "0.0010", "0.0015", "0.0020"));
  EXPECT_THAT(Labels({.low = 0.5e-6, .high = 2, .logarithmic = true}, 4),
              ElementsAre("1e-5", "0.001", "0.1"));
  EXPECT_THAT(Labels({.low = 0.9, .high = 30, .logarithmic = true}, 6),
              ElementsAre("1", "2", "5", "10", "20"));
}

TEST(AxisOf, HoldsAllValuesWhateverTheyAre) {
  const Axis plain = MakeAxis({3, -1, NAN, INFINITY}, false, "x");
  EXPECT_LT(plain.low, -1);
  EXPECT_GT(plain.high, 3);
  EXPECT_LT(plain.high, 4);
  const Axis positive = MakeAxis({-5, 0, 0.01, 10}, true, "");
  EXPECT_GT(positive.low, 0);
  EXPECT_LT(positive.low, 0.01);
  for (const auto& values : std::vector<std::vector<double>>{{}, {0}, {7, 7}, {-1e9}, {NAN}}) {
    const Axis axis = MakeAxis(values, false, "");
    EXPECT_LT(axis.low, axis.high);
    EXPECT_FALSE(Ticks(axis, 5).empty());
  }
}

LineChart Chart(const std::vector<double>& y) {
  LineChart chart{.title = "t", .x_label = "step"};
  chart.series = {{"y", {}, y}};
  for (size_t i = 0; i < y.size(); ++i) chart.series[0].x.push_back(static_cast<double>(i));
  return chart;
}

TEST(LineChart, DrawsEverySeriesInItsColour) {
  LineChart chart = Chart({1, 2, 3, 4});
  chart.series.push_back({"other", {0, 3}, {4, 1}});
  const Canvas canvas = ChartPicture(std::vector<ort_ed::Chart>{chart}, 2);
  EXPECT_EQ(canvas.width(), 616);
  EXPECT_EQ(canvas.height(), 396);
  EXPECT_GT(CountOf(canvas, SeriesColor(0)), 200);
  EXPECT_GT(CountOf(canvas, SeriesColor(1)), 200);
}

TEST(LineChart, ASinglePointIsSeen) {
  EXPECT_GT(CountOf(ChartPicture(std::vector<ort_ed::Chart>{Chart({3})}, 1), SeriesColor(0)), 5);
}

TEST(LineChart, ASingleSeriesIsNamedOnDemand) {
  LineChart chart = Chart({1, 2});
  const auto colored = [&] {
    return CountOf(ChartPicture(std::vector<ort_ed::Chart>{chart}, 1), SeriesColor(0));
  };
  const int64_t without = colored();
  chart.names_single_series = true;
  EXPECT_GT(colored(), without + 20);  // the sample of the line
}

TEST(LineChart, ASeriesMayHaveTheColourOfAnother) {
  LineChart chart = Chart({1, 2, 3, 4});
  chart.series[0].color = 3;
  const Canvas canvas = ChartPicture(std::vector<ort_ed::Chart>{chart}, 1);
  EXPECT_EQ(CountOf(canvas, SeriesColor(0)), 0);
  EXPECT_GT(CountOf(canvas, SeriesColor(3)), 200);
}

// A frame with labels at least.
bool IsBlank(const Canvas& canvas) { return CountOf(canvas, kWhite) == std::ssize(canvas.pixels()); }

TEST(LineChart, TakesAnyNumbers) {
  std::vector<double> many;
  for (int i = 0; i < 20000; ++i) many.push_back(std::sin(i * 0.01) * i);
  for (const auto& y :
       std::vector<std::vector<double>>{{}, {1}, {NAN, 1, NAN}, {0, 0, 0}, {1e300, -1e300}, many}) {
    LineChart chart = Chart(y);
    EXPECT_FALSE(IsBlank(ChartPicture(std::vector<ort_ed::Chart>{chart}, 1)));
    chart.logarithmic_x = chart.logarithmic_y = true;
    EXPECT_FALSE(IsBlank(ChartPicture(std::vector<ort_ed::Chart>{chart}, 1)));
  }
}

TEST(HistogramChart, TheShapeCountsNotTheNumberOfValues) {
  const auto picture = [](int repeats, double split) {
    HistogramChart chart{.title = "h", .x_label = "U"};
    chart.series = {{"a", {}}};
    for (int i = 0; i < 10 * repeats; ++i) chart.series[0].values.push_back(i < split * 10 * repeats ? 0 : 1);
    return ChartPicture(std::vector<ort_ed::Chart>{chart}, 1);
  };
  const Canvas few = picture(1, 0.5), many = picture(100, 0.5), other = picture(1, 0.3);
  EXPECT_TRUE(std::equal(few.pixels().begin(), few.pixels().end(), many.pixels().begin()));
  EXPECT_FALSE(std::equal(few.pixels().begin(), few.pixels().end(), other.pixels().begin()));
}

TEST(HistogramChart, TakesAnyNumbers) {
  HistogramChart chart{.title = "h", .series = {{"none", {}}, {"odd", {NAN, 3, INFINITY}}, {"same", {3, 3}}}};
  EXPECT_FALSE(IsBlank(ChartPicture(std::vector<ort_ed::Chart>{chart}, 1)));
}

TEST(PlaneChart, ShowsTheValuesOfItsCellsWithYUp) {
  PlaneChart chart{.title = "", .x = {.low = 0, .high = 2}, .y = {.low = 0, .high = 2}};
  chart.heat = {.rows = 2, .columns = 2, .values = {0, 0.25, 0.5, 1}};
  Canvas canvas(400, 400);
  DrawChart(canvas, {0, 0, 400, 400}, chart);
  const ColorMap& colors = ColorMap::Sequential();
  EXPECT_EQ(canvas.At(120, 280), colors.At(0));  // x below 1, y below 1
  EXPECT_EQ(canvas.At(280, 280), colors.At(0.25));
  EXPECT_EQ(canvas.At(120, 120), colors.At(0.5));
  EXPECT_EQ(canvas.At(280, 120), colors.At(1));
}

TEST(PlaneChart, DrawsPointsInsideAndDropsThoseOutside) {
  PlaneChart chart{.title = "", .x = {.low = -1, .high = 1}, .y = {.low = -1, .high = 1}};
  Canvas without(200, 200), with(200, 200);
  chart.points = {{5, 5}, {-3, 0}};
  DrawChart(without, {0, 0, 200, 200}, chart);
  chart.points.push_back({0.1, 0.1});
  DrawChart(with, {0, 0, 200, 200}, chart);
  EXPECT_FALSE(std::equal(with.pixels().begin(), with.pixels().end(), without.pixels().begin()));
}

TEST(SampleGrid, ShowsTheBitsOfEveryRow) {
  std::vector<uint8_t> rows(4 * 6);
  rows[0] = 1;          // row 0, top left
  rows[3 * 6 + 5] = 1;  // row 3, bottom right
  const Canvas canvas = SampleGridPicture(rows, 2, 3);
  const int scale = 12, gap = 2;  // small images are enlarged at most 12 times
  ASSERT_EQ(canvas.width(), 2 * (3 * scale + gap) + gap);
  ASSERT_EQ(canvas.height(), 2 * (2 * scale + gap) + gap);
  EXPECT_EQ(canvas.At(gap, gap), kInk);
  EXPECT_EQ(canvas.At(gap + scale, gap), kWhite);
  EXPECT_EQ(canvas.At(canvas.width() - gap - 1, canvas.height() - gap - 1), kInk);
  EXPECT_EQ(CountOf(canvas, kInk), 2 * scale * scale);
  EXPECT_EQ(canvas.At(0, 0), kGridLine);
  MessageOf(ErrorCode::kInvalidArgument, [&] { SampleGridPicture(rows, 0, 3); });
}

std::vector<std::string> Names(size_t count) { return std::vector<std::string>(count, "name"); }

SurpriseRow NoSurprise(size_t variables) { return {"row", {}, std::vector<float>(variables), "x = 1 (0.0)"}; }

TEST(SurpriseStrips, NamesStandOverUpToFortyVariables) {
  const auto height = [](size_t variables, size_t names) {
    const SurpriseRow row = NoSurprise(variables);
    return SurpriseStripsPicture({&row, 1}, Names(names)).height();
  };
  EXPECT_GT(height(40, 40), height(40, 0) + 20);
  EXPECT_EQ(height(41, 41), height(41, 0));
}

TEST(SurpriseStrips, LongerNamesHaveMoreRoom) {
  const SurpriseRow row = NoSurprise(2);
  const std::vector<std::string> small = {"a", "b"}, large = {"a", "a much longer name"};
  EXPECT_GT(SurpriseStripsPicture({&row, 1}, large).height(),
            SurpriseStripsPicture({&row, 1}, small).height());
}

TEST(SurpriseStrips, BarsAreDrawnAndExplainedOnlyOfBits) {
  const SurpriseRow without = NoSurprise(1);
  SurpriseRow with = without;
  with.bits = {1};
  const auto ink = [](const SurpriseRow& row) {
    return CountOf(SurpriseStripsPicture({&row, 1}, Names(0)), kInk);
  };
  EXPECT_GT(ink(with), ink(without) + 24 * 4);
  with.bits = {0};
  EXPECT_GT(ink(with), ink(without));  // the words that explain them
}

TEST(Couplings, TruthStandsBesideOnTheSameScale) {
  const std::vector<double> learned = {0, 1, 1, 0}, truth = {0, -1, -1, 0};
  const Canvas one = CouplingsPicture(learned, {}, 2), both = CouplingsPicture(learned, truth, 2);
  EXPECT_GT(both.width(), 1.9 * one.width());
  EXPECT_GT(CountOf(one, ColorMap::Diverging().At(1)), 10000);
  EXPECT_LT(CountOf(one, ColorMap::Diverging().At(0)), 100);
  EXPECT_GT(CountOf(both, ColorMap::Diverging().At(0)), 10000);
  CouplingsPicture({0}, {}, 1);
}

TEST(Quantile, IsTheValueBelowWhichAFractionLies) {
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(Quantile({5, 1, 4, 2, 3}, 1), 5);
}

}  // namespace
}  // namespace ort_ed
