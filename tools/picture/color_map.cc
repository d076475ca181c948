#include "tools/picture/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ort_ed {
namespace {

constexpr Color kNoValue{200, 200, 200};

constexpr std::array<ColorMap::Tone, 7> kSequential = {{{0.24, 0.12, 312},
                                                        {0.35, 0.13, 290},
                                                        {0.46, 0.11, 258},
                                                        {0.57, 0.10, 210},
                                                        {0.69, 0.14, 163},
                                                        {0.81, 0.18, 132},
                                                        {0.94, 0.19, 106}}};

uint8_t Encoded(double linear) {
  linear = std::clamp(linear, 0.0, 1.0);
  const double srgb = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * srgb));
}

Color FromOklab(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {Encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          Encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          Encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

ColorMap::ColorMap(std::vector<Tone> evenly_spaced) {
  for (const Tone& tone : evenly_spaced) {
    const double angle = tone.hue * std::numbers::pi / 180;
    points_.push_back({tone.lightness, tone.chroma * std::cos(angle), tone.chroma * std::sin(angle)});
  }
}

Color ColorMap::At(double value) const {
  if (std::isnan(value)) return kNoValue;
  const double position = std::clamp(value, 0.0, 1.0) * static_cast<double>(points_.size() - 1);
  const size_t i = std::min(static_cast<size_t>(position), points_.size() - 2);
  const double t = position - static_cast<double>(i);
  const Lab &from = points_[i], &to = points_[i + 1];
  return FromOklab(std::lerp(from.lightness, to.lightness, t), std::lerp(from.a, to.a, t),
                   std::lerp(from.b, to.b, t));
}

const ColorMap& ColorMap::Sequential() {
  static const ColorMap map({kSequential.begin(), kSequential.end()});
  return map;
}

const ColorMap& ColorMap::Reversed() {
  static const ColorMap map({kSequential.rbegin(), kSequential.rend()});
  return map;
}

const ColorMap& ColorMap::Diverging() {
  static const ColorMap map({{0.33, 0.14, 262},
                             {0.55, 0.15, 255},
                             {0.79, 0.09, 245},
                             {0.98, 0.00, 0},
                             {0.80, 0.10, 45},
                             {0.58, 0.19, 32},
                             {0.36, 0.14, 22}});
  return map;
}

Color SeriesColor(size_t index) {
  constexpr std::array<Color, 8> kColors = {{{37, 99, 175},
                                             {222, 107, 32},
                                             {44, 148, 84},
                                             {196, 48, 61},
                                             {126, 87, 180},
                                             {20, 158, 174},
                                             {181, 137, 0},
                                             {120, 125, 135}}};
  return kColors[index % kColors.size()];
}

}  // namespace ort_ed
