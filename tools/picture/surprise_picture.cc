#include "tools/picture/surprise_picture.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "tools/picture/axes.h"
#include "tools/picture/color_map.h"
#include "tools/picture/pictures.h"

namespace ort_ed {
namespace {

constexpr int kMargin = 14;
constexpr int kBarHeight = 44;  // of the legend

// The surprise of the darkest colour: one odd value must not make all others look alike.
double DarkestSurprise(std::span<const SurpriseRow> rows) {
  constexpr double kAtLeast = 2;  // nats; less is no surprise
  std::vector<double> all;
  for (const SurpriseRow& row : rows)
    for (const float value : row.surprise)
      if (std::isfinite(value)) all.push_back(value);
  return all.empty() ? kAtLeast : std::max(kAtLeast, Quantile(all, 0.999));
}

// White, so that what does not surprise does not catch the eye, then orange and red to nearly black.
Color SurpriseColor(double surprise, double darkest) {
  static const ColorMap colors(
      {{1, 0, 60}, {0.84, 0.12, 60}, {0.63, 0.2, 35}, {0.42, 0.16, 15}, {0.2, 0.06, 0}});
  return colors.At(surprise / darkest);
}

constexpr char kMeaningOfColors[] = "surprise: -log p(value given all others), in nats";
constexpr char kMeaningOfBars[] = "black bar: the value is 1";

void DrawLegend(Canvas& canvas, double left, double top, double darkest, bool with_bars) {
  constexpr int kWidth = 200, kHeight = 10;
  for (int x = 0; x < kWidth; ++x)
    canvas.Fill({left + x, top, 1, kHeight}, SurpriseColor(darkest * x / (kWidth - 1), darkest));
  canvas.Outline({left, top, kWidth, kHeight}, kGridLine);
  const double below = top + kHeight + 14;
  canvas.Text({left, below}, "0", {.size = kTickText, .color = kFaintInk});
  canvas.Text({left + kWidth, below}, fmt::format("{:.1f} or more", darkest),
              {.size = kTickText, .color = kFaintInk, .align = Align::kCentre});
  const double beside = left + kWidth + 50;
  canvas.Text({beside, top + kHeight}, kMeaningOfColors, {.size = kTickText});
  if (with_bars) canvas.Text({beside, below + 2}, kMeaningOfBars, {.size = kTickText});
}

// The part [first, last) of `count` values that pixel `x` of `pixels` shows.
std::pair<size_t, size_t> ShownBy(int x, int pixels, size_t count) {
  const auto first = static_cast<size_t>(x) * count / static_cast<size_t>(pixels);
  const auto last = (static_cast<size_t>(x) + 1) * count / static_cast<size_t>(pixels);
  return {first, std::max(last, first + 1)};
}

float Most(const SurpriseRow& row, size_t first, size_t last) {
  return *std::max_element(row.surprise.begin() + static_cast<std::ptrdiff_t>(first),
                           row.surprise.begin() + static_cast<std::ptrdiff_t>(last));
}

double FractionOfOnes(const SurpriseRow& row, size_t first, size_t last) {
  const auto ones = std::count(row.bits.begin() + static_cast<std::ptrdiff_t>(first),
                               row.bits.begin() + static_cast<std::ptrdiff_t>(last), 1);
  return static_cast<double>(ones) / static_cast<double>(last - first);
}

void DrawStrip(Canvas& canvas, const Rect& rect, const SurpriseRow& row, double darkest) {
  const double bar = row.bits.empty() ? 0 : 5;
  const int pixels = static_cast<int>(rect.width);
  for (int x = 0; x < pixels; ++x) {
    const auto [first, last] = ShownBy(x, pixels, row.surprise.size());
    if (bar > 0) canvas.Fill({rect.left + x, rect.top, 1, bar}, kInk, FractionOfOnes(row, first, last));
    canvas.Fill({rect.left + x, rect.top + bar, 1, rect.height - bar},
                SurpriseColor(Most(row, first, last), darkest));
  }
  canvas.Outline(rect, kGridLine);
}

double WidestText(std::span<const std::string> texts, double size) {
  double widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, Canvas::TextWidth(text, size));
  return widest;
}

// More than these have no room for their names side by side.
bool CanBeNamed(std::span<const std::string> names) {
  constexpr size_t kMost = 40;
  return names.size() <= kMost;
}

// Upwards from the strips, each in the middle of its variable's column.
void DrawNames(Canvas& canvas, std::span<const std::string> names, double left, double bottom,
               double strip_width) {
  const double each = strip_width / static_cast<double>(names.size());
  for (size_t v = 0; v < names.size(); ++v)
    canvas.Text({left + (static_cast<double>(v) + 0.5) * each + kTickText / 2, bottom}, names[v],
                {.size = kTickText, .upwards = true});
}

// Whole pixels for each variable where there is room.
int StripWidth(int variables) {
  constexpr int kSmallest = 480, kWidest = 900, kWidestVariable = 24;
  if (variables > kWidest) return kWidest;
  const int each = std::max(1, std::min(kWidestVariable, kWidest / variables));
  return std::max(each * variables, std::min(kSmallest, kWidestVariable * variables));
}

}  // namespace

Canvas SurpriseStripsPicture(std::span<const SurpriseRow> rows, std::span<const std::string> names) {
  constexpr int kStripHeight = 20, kPitch = 27, kGap = 10, kLegendWidth = 620;
  std::vector<std::string> labels, notes;
  for (const SurpriseRow& row : rows) {
    labels.push_back(row.label);
    notes.push_back(row.note);
  }
  const std::span<const std::string> shown = CanBeNamed(names) ? names : std::span<const std::string>();
  const auto pixels = [](double width) { return static_cast<int>(std::ceil(width)); };
  const int strip = StripWidth(rows.empty() ? 1 : static_cast<int>(rows.front().surprise.size()));
  const int left = kMargin + pixels(WidestText(labels, kLabelText)) + kGap;
  const int right = left + strip + kGap;
  const int first = kMargin + (shown.empty() ? 0 : pixels(WidestText(shown, kTickText)) + kGap);
  const auto count = static_cast<int>(rows.size());
  Canvas canvas(std::max(right + pixels(WidestText(notes, kTickText)) + kMargin, left + kLegendWidth),
                first + count * kPitch + kBarHeight + kMargin);
  DrawNames(canvas, shown, left, first - 5, strip);
  const double darkest = DarkestSurprise(rows);
  for (int i = 0; i < count; ++i) {
    const SurpriseRow& row = rows[static_cast<size_t>(i)];
    const double top = first + i * kPitch;
    canvas.Text({static_cast<double>(left - kGap), top + 15}, row.label,
                {.size = kLabelText, .align = Align::kRight});
    DrawStrip(canvas, {static_cast<double>(left), top, static_cast<double>(strip), kStripHeight}, row,
              darkest);
    canvas.Text({static_cast<double>(right), top + 15}, row.note, {.size = kTickText, .color = kFaintInk});
  }
  const bool with_bars = count > 0 && !rows.front().bits.empty();
  DrawLegend(canvas, left, first + count * kPitch + 8, darkest, with_bars);
  return canvas;
}

Canvas SurpriseImagesPicture(std::span<const SurpriseRow> rows, int height, int width) {
  constexpr int kLabel = 18, kGap = 12, kWidth = 900;
  const int scale = std::clamp(110 / std::max(height, width), 1, 12);
  const int tile_width = 2 * width * scale + 3, tile_height = height * scale;
  const int columns = std::max(1, (kWidth + kGap) / (tile_width + kGap));
  const auto count = static_cast<int>(rows.size());
  const int lines = (count + columns - 1) / columns;
  Canvas canvas(std::max(2 * kMargin + std::min(count, columns) * (tile_width + kGap) - kGap, 620),
                2 * kMargin + lines * (tile_height + kLabel + kGap) + kBarHeight);
  const double darkest = DarkestSurprise(rows);
  for (int i = 0; i < count; ++i) {
    const SurpriseRow& row = rows[static_cast<size_t>(i)];
    const int left = kMargin + i % columns * (tile_width + kGap);
    const int top = kMargin + i / columns * (tile_height + kLabel + kGap) + kLabel;
    canvas.Text({static_cast<double>(left), top - 5.0}, row.label, {.size = kTickText});
    for (int y = 0; y < tile_height; ++y) {
      for (int x = 0; x < width * scale; ++x) {
        const auto bit = static_cast<size_t>(y / scale * width + x / scale);
        canvas.SetPixel(left + x, top + y, row.bits[bit] != 0 ? kInk : kWhite);
        canvas.SetPixel(left + width * scale + 3 + x, top + y, SurpriseColor(row.surprise[bit], darkest));
      }
    }
    canvas.Outline({left - 0.5, top - 0.5, tile_width + 1.0, tile_height + 1.0}, kGridLine);
  }
  DrawLegend(canvas, kMargin, kMargin + lines * (tile_height + kLabel + kGap) + 4, darkest, false);
  return canvas;
}

}  // namespace ort_ed
