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

void DrawColorBar(Canvas& canvas, double left, double top, double darkest) {
  constexpr int kWidth = 200, kHeight = 10;
  for (int x = 0; x < kWidth; ++x)
    canvas.Fill({left + x, top, 1, kHeight}, SurpriseColor(darkest * x / (kWidth - 1), darkest));
  canvas.Outline({left, top, kWidth, kHeight}, kGridLine);
  const double below = top + kHeight + 14;
  canvas.Text({left, below}, "0", {.size = kTickText, .color = kFaintInk});
  canvas.Text({left + kWidth, below}, fmt::format("{:.1f} or more", darkest),
              {.size = kTickText, .color = kFaintInk, .align = Align::kCentre});
  canvas.Text({left + kWidth + 50, top + kHeight}, "surprise: -log p(value given all others), in nats",
              {.size = kTickText});
}

// The part [first, last) of `count` values that pixel `x` of `pixels` shows.
std::pair<size_t, size_t> ShownBy(int x, int pixels, size_t count) {
  const auto first = static_cast<size_t>(x) * count / static_cast<size_t>(pixels);
  const auto last = (static_cast<size_t>(x) + 1) * count / static_cast<size_t>(pixels);
  return {first, std::max(last, first + 1)};
}

void DrawStrip(Canvas& canvas, const Rect& rect, const SurpriseRow& row, double darkest) {
  constexpr double kBits = 5;
  const int pixels = static_cast<int>(rect.width);
  for (int x = 0; x < pixels; ++x) {
    const auto [first, last] = ShownBy(x, pixels, row.bits.size());
    const auto ones = std::count(row.bits.begin() + static_cast<std::ptrdiff_t>(first),
                                 row.bits.begin() + static_cast<std::ptrdiff_t>(last), 1);
    const float most = *std::max_element(row.surprise.begin() + static_cast<std::ptrdiff_t>(first),
                                         row.surprise.begin() + static_cast<std::ptrdiff_t>(last));
    canvas.Fill({rect.left + x, rect.top, 1, kBits}, kInk,
                static_cast<double>(ones) / static_cast<double>(last - first));
    canvas.Fill({rect.left + x, rect.top + kBits, 1, rect.height - kBits}, SurpriseColor(most, darkest));
  }
  canvas.Outline(rect, kGridLine);
}

}  // namespace

Canvas SurpriseStripsPicture(std::span<const SurpriseRow> rows) {
  constexpr int kStripHeight = 20, kPitch = 27, kSmallest = 480;
  double labels = 0, notes = 0;
  for (const SurpriseRow& row : rows) {
    labels = std::max(labels, Canvas::TextWidth(row.label, kLabelText));
    notes = std::max(notes, Canvas::TextWidth(row.note, kTickText));
  }
  // Whole pixels for each variable where there is room.
  const int variables = rows.empty() ? 1 : static_cast<int>(rows.front().bits.size());
  const int each = std::max(1, std::min(24, 900 / variables));
  const int strip = variables > 900 ? 900 : std::max(each * variables, std::min(kSmallest, 24 * variables));
  const int left = kMargin + static_cast<int>(std::ceil(labels)) + 10;
  const int width = std::max(left + strip + 12 + static_cast<int>(std::ceil(notes)) + kMargin, 620);
  const auto count = static_cast<int>(rows.size());
  Canvas canvas(width, 2 * kMargin + count * kPitch + kBarHeight);
  const double darkest = DarkestSurprise(rows);
  for (int i = 0; i < count; ++i) {
    const SurpriseRow& row = rows[static_cast<size_t>(i)];
    const double top = kMargin + i * kPitch;
    canvas.Text({static_cast<double>(left - 10), top + 15}, row.label,
                {.size = kLabelText, .align = Align::kRight});
    DrawStrip(canvas, {static_cast<double>(left), top, static_cast<double>(strip), kStripHeight}, row,
              darkest);
    canvas.Text({static_cast<double>(left + strip + 12), top + 15}, row.note,
                {.size = kTickText, .color = kFaintInk});
  }
  DrawColorBar(canvas, left, kMargin + count * kPitch + 8, darkest);
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
  DrawColorBar(canvas, kMargin, kMargin + lines * (tile_height + kLabel + kGap) + 4, darkest);
  return canvas;
}

}  // namespace ort_ed
