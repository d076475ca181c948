#include "tools/picture/axes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ort_ed {
namespace {

constexpr double kTickLength = 4;
constexpr double kPixelsPerTickX = 60;
constexpr double kPixelsPerTickY = 42;

int WantedTicks(double pixels, double pixels_per_tick) {
  return std::clamp(static_cast<int>(pixels / pixels_per_tick), 2, 10);
}

std::string NumberLabel(int factor, int exponent) {
  if (exponent >= -3 && exponent <= 5) return fmt::format("{:g}", factor * std::pow(10, exponent));
  return fmt::format("{}e{}", factor, exponent);
}

std::vector<Tick> LinearTicks(double low, double high, int wanted) {
  const double rough = (high - low) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  const bool short_numbers = std::max(std::abs(low), std::abs(high)) < 1e5 && step >= 1e-5;
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    const double value = i == 0 ? 0 : i * step;
    const bool zero = value == 0;
    ticks.push_back({value, zero            ? "0"
                            : short_numbers ? fmt::format("{:.{}f}", value, decimals)
                                            : fmt::format("{:g}", value)});
  }
  return ticks;
}

std::vector<Tick> LogarithmicTicks(double low, double high, int wanted) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  if (high / low < 10) return LinearTicks(low, high, wanted);
  const bool between = 3 * (last - first) <= wanted;  // room for 2 and 5 times the powers
  const int stride = std::max(1, (last - first + wanted - 1) / wanted);
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10, exponent);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9) || (factor > 1 && !between)) continue;
      ticks.push_back({value, NumberLabel(factor, exponent)});
    }
  }
  return ticks;
}

double WidestLabel(const Axis& axis, int wanted) {
  double widest = 0;
  for (const Tick& tick : Ticks(axis, wanted))
    widest = std::max(widest, Canvas::TextWidth(tick.label, kTickText));
  return widest;
}

}  // namespace

double Axis::Fraction(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<Tick> Ticks(const Axis& axis, int wanted) {
  const auto [low, high] = std::minmax(axis.low, axis.high);
  return axis.logarithmic ? LogarithmicTicks(low, high, wanted) : LinearTicks(low, high, wanted);
}

Axis MakeAxis(const std::vector<double>& values, bool logarithmic, const std::string& label) {
  constexpr double kRoom = 0.04;
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high)
    return {.low = logarithmic ? 0.1 : 0, .high = 1, .logarithmic = logarithmic, .label = label};
  if (logarithmic) {
    const double room = std::max(std::pow(high / low, kRoom), 1.05);
    return {.low = low / room, .high = high * room, .logarithmic = true, .label = label};
  }
  double room = kRoom * (high - low);
  if (room <= 1e-9 * std::max(std::abs(low), std::abs(high))) room = std::max(1e-3, 0.1 * std::abs(high));
  return {.low = low - room, .high = high + room, .logarithmic = false, .label = label};
}

Frame FrameWithin(const Rect& outer, const Axis& x, const Axis& y, const std::string& title) {
  const double left = WidestLabel(y, WantedTicks(outer.height, kPixelsPerTickY)) + kTickLength + 14 +
                      (y.label.empty() ? 0 : kLabelText + 8);
  const double bottom = kTickText + kTickLength + 12 + (x.label.empty() ? 0 : kLabelText + 10);
  const double top = title.empty() ? 10 : kTitleText + 18;
  return {outer.Inset(std::round(left), std::round(top), 14, std::round(bottom)), x, y};
}

void DrawGrid(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.area;
  for (const Tick& tick : Ticks(frame.x, WantedTicks(area.width, kPixelsPerTickX)))
    canvas.Fill({std::floor(frame.At(tick.value, frame.y.low).x), area.top, 1, area.height}, kGridLine);
  for (const Tick& tick : Ticks(frame.y, WantedTicks(area.height, kPixelsPerTickY)))
    canvas.Fill({area.left, std::floor(frame.At(frame.x.low, tick.value).y), area.width, 1}, kGridLine);
}

void DrawAxes(Canvas& canvas, const Frame& frame, const std::string& title) {
  const Rect& area = frame.area;
  canvas.Outline({area.left - 1, area.top - 1, area.width + 2, area.height + 2}, kFaintInk);
  for (const Tick& tick : Ticks(frame.x, WantedTicks(area.width, kPixelsPerTickX))) {
    const double x = std::floor(frame.At(tick.value, frame.y.low).x);
    canvas.Fill({x, area.bottom() + 1, 1, kTickLength}, kFaintInk);
    canvas.Text({x + 0.5, area.bottom() + kTickLength + 6 + kTickText}, tick.label,
                {.size = kTickText, .color = kFaintInk, .align = Align::kCentre});
  }
  for (const Tick& tick : Ticks(frame.y, WantedTicks(area.height, kPixelsPerTickY))) {
    const double y = std::floor(frame.At(frame.x.low, tick.value).y);
    canvas.Fill({area.left - 1 - kTickLength, y, kTickLength, 1}, kFaintInk);
    canvas.Text({area.left - kTickLength - 6, y + 0.5 + kTickText / 2}, tick.label,
                {.size = kTickText, .color = kFaintInk, .align = Align::kRight});
  }
  const double middle_x = area.left + area.width / 2, middle_y = area.top + area.height / 2;
  canvas.Text({middle_x, area.bottom() + kTickLength + 6 + kTickText + 8 + kLabelText}, frame.x.label,
              {.size = kLabelText, .align = Align::kCentre});
  const double labels = WidestLabel(frame.y, WantedTicks(area.height, kPixelsPerTickY));
  canvas.Text({area.left - kTickLength - 6 - labels - 8, middle_y}, frame.y.label,
              {.size = kLabelText, .align = Align::kCentre, .upwards = true});
  canvas.Text({middle_x, area.top - 10}, title, {.size = kTitleText, .align = Align::kCentre});
}

void DrawLegend(Canvas& canvas, const Frame& frame, const std::vector<LegendEntry>& entries,
                std::span<const Position> points) {
  constexpr double kLineHeight = 18;
  constexpr double kSample = 18;
  constexpr double kMargin = 8;
  if (entries.empty()) return;
  double widest = 0;
  for (const LegendEntry& entry : entries)
    widest = std::max(widest, Canvas::TextWidth(entry.name, kTickText));
  const double width = widest + kSample + 22, height = kLineHeight * static_cast<double>(entries.size()) + 6;
  const double left = frame.area.left + kMargin, right = frame.area.right() - width - kMargin;
  const double top = frame.area.top + kMargin, bottom = frame.area.bottom() - height - kMargin;
  const Rect corners[] = {{right, top, width, height},
                          {left, top, width, height},
                          {right, bottom, width, height},
                          {left, bottom, width, height}};
  const auto hidden = [&](const Rect& box) {
    return std::count_if(points.begin(), points.end(), [&](const Position& p) {
      return p.x > box.left && p.x < box.right() && p.y > box.top && p.y < box.bottom();
    });
  };
  const Rect box = *std::min_element(std::begin(corners), std::end(corners),
                                     [&](const Rect& a, const Rect& b) { return hidden(a) < hidden(b); });
  canvas.Fill(box, kWhite, 0.85);
  for (size_t i = 0; i < entries.size(); ++i) {
    const double y = std::round(box.top + kLineHeight * (static_cast<double>(i) + 0.5) + 3);
    canvas.Fill({box.left + 6, y - 1.5, kSample, 3}, entries[i].color);
    canvas.Text({box.left + 6 + kSample + 8, y + kTickText / 2}, entries[i].name, {.size = kTickText});
  }
}

}  // namespace ort_ed
