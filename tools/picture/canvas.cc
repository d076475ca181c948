#include "tools/picture/canvas.h"

#include <algorithm>
#include <cmath>

#include "ort_ed/error.h"
#include "tools/picture/font.h"

namespace ort_ed {
namespace {

constexpr int kMaxSide = 1 << 14;

double DistanceToSegment(Position p, Position a, Position b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length_squared = dx * dx + dy * dy;
  const double along = length_squared > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length_squared : 0;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// How much of a pixel [i, i + 1] lies within [from, to].
double Coverage(int i, double from, double to) {
  return std::clamp(std::min<double>(i + 1, to) - std::max<double>(i, from), 0.0, 1.0);
}

uint8_t Mix(uint8_t below, uint8_t above, double opacity) {
  return static_cast<uint8_t>(std::lround(below + (above - below) * opacity));
}

}  // namespace

Canvas::Canvas(int width, int height, Color background) : width_(width), height_(height) {
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    throw Error(ErrorCode::kInvalidArgument,
                "a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                    " pixels is not possible; each side is 1 to " + std::to_string(kMaxSide));
  pixels_.assign(static_cast<size_t>(width) * static_cast<size_t>(height), background);
}

Color Canvas::At(int x, int y) const {
  return pixels_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)];
}

void Canvas::SetPixel(int x, int y, Color color) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  pixels_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)] = color;
}

void Canvas::Blend(int x, int y, Color color, double opacity) {
  if (opacity <= 0 || x < 0 || y < 0 || x >= width_ || y >= height_) return;
  const Color below = At(x, y);
  opacity = std::min(opacity, 1.0);
  SetPixel(x, y,
           {Mix(below.red, color.red, opacity), Mix(below.green, color.green, opacity),
            Mix(below.blue, color.blue, opacity)});
}

void Canvas::Fill(const Rect& rect, Color color, double opacity) {
  const int top = std::max(0, static_cast<int>(std::floor(rect.top)));
  const int bottom = std::min(height_, static_cast<int>(std::ceil(rect.bottom())));
  const int left = std::max(0, static_cast<int>(std::floor(rect.left)));
  const int right = std::min(width_, static_cast<int>(std::ceil(rect.right())));
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      Blend(x, y, color,
            opacity * Coverage(x, rect.left, rect.right()) * Coverage(y, rect.top, rect.bottom()));
}

void Canvas::Outline(const Rect& rect, Color color, double line_width) {
  const double w = line_width;
  Fill({rect.left, rect.top, rect.width, w}, color);
  Fill({rect.left, rect.bottom() - w, rect.width, w}, color);
  Fill({rect.left, rect.top + w, w, rect.height - 2 * w}, color);
  Fill({rect.right() - w, rect.top + w, w, rect.height - 2 * w}, color);
}

void Canvas::Line(std::span<const Position> points, Color color, double line_width) {
  Strokes({{points.begin(), points.end()}}, color, line_width);
}

// Where segments meet or strokes cross, the pixel takes the larger coverage, not one over the other.
void Canvas::Strokes(const std::vector<std::vector<Position>>& strokes, Color color, double line_width) {
  const double reach = line_width / 2 + 0.5;
  double left = width_, top = height_, right = 0, bottom = 0;
  for (const auto& stroke : strokes) {
    for (const Position& p : stroke) {
      left = std::min(left, p.x - reach);
      right = std::max(right, p.x + reach);
      top = std::min(top, p.y - reach);
      bottom = std::max(bottom, p.y + reach);
    }
  }
  const int x0 = static_cast<int>(std::floor(std::max(0.0, left)));
  const int y0 = static_cast<int>(std::floor(std::max(0.0, top)));
  const int columns = static_cast<int>(std::ceil(std::min<double>(width_, right))) - x0;
  const int rows = static_cast<int>(std::ceil(std::min<double>(height_, bottom))) - y0;
  if (columns <= 0 || rows <= 0) return;
  std::vector<float> coverage(static_cast<size_t>(columns) * static_cast<size_t>(rows));

  const auto cover = [&](Position a, Position b) {
    const int from_x = std::max(x0, static_cast<int>(std::floor(std::min(a.x, b.x) - reach)));
    const int to_x = std::min(x0 + columns, static_cast<int>(std::ceil(std::max(a.x, b.x) + reach)));
    const int from_y = std::max(y0, static_cast<int>(std::floor(std::min(a.y, b.y) - reach)));
    const int to_y = std::min(y0 + rows, static_cast<int>(std::ceil(std::max(a.y, b.y) + reach)));
    for (int y = from_y; y < to_y; ++y) {
      for (int x = from_x; x < to_x; ++x) {
        const double distance = DistanceToSegment({x + 0.5, y + 0.5}, a, b);
        float& pixel = coverage[static_cast<size_t>(y - y0) * static_cast<size_t>(columns) +
                                static_cast<size_t>(x - x0)];
        pixel = std::max(pixel, static_cast<float>(std::min(reach - distance, line_width)));
      }
    }
  };
  for (const auto& stroke : strokes)
    for (size_t i = 0; i < stroke.size(); ++i)
      if (i + 1 < stroke.size() || stroke.size() == 1)
        cover(stroke[i], stroke[std::min(i + 1, stroke.size() - 1)]);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      Blend(x0 + x, y0 + y, color,
            coverage[static_cast<size_t>(y) * static_cast<size_t>(columns) + static_cast<size_t>(x)]);
}

void Canvas::Disc(Position centre, double radius, Color color, double opacity) {
  for (int y = static_cast<int>(std::floor(centre.y - radius - 1)); y <= centre.y + radius + 1; ++y) {
    for (int x = static_cast<int>(std::floor(centre.x - radius - 1)); x <= centre.x + radius + 1; ++x) {
      const double distance = std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y);
      Blend(x, y, color, opacity * std::clamp(radius + 0.5 - distance, 0.0, 1.0));
    }
  }
}

void Canvas::Text(Position at, std::string_view text, const TextStyle& style) {
  const double scale = style.size / kCapitalHeight;
  const double width = TextWidth(text, style.size);
  double pen = style.align == Align::kLeft ? 0 : style.align == Align::kCentre ? -width / 2 : -width;
  for (const char32_t character : CodePoints(text)) {
    const Glyph& glyph = FindGlyph(character);
    std::vector<std::vector<Position>> strokes = glyph.strokes;
    for (auto& stroke : strokes) {
      for (Position& p : stroke) {
        const double along = pen + p.x * scale, up = p.y * scale;
        p = style.upwards ? Position{at.x - up, at.y - along} : Position{at.x + along, at.y - up};
      }
    }
    Strokes(strokes, style.color, std::max(1.1, style.size * 0.125));
    pen += (glyph.width + kGlyphGap) * scale;
  }
}

double Canvas::TextWidth(std::string_view text, double size) {
  double width = 0;
  for (const char32_t character : CodePoints(text)) width += FindGlyph(character).width + kGlyphGap;
  return text.empty() ? 0 : (width - kGlyphGap) * size / kCapitalHeight;
}

}  // namespace ort_ed
