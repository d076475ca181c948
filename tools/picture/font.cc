#include "tools/picture/font.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ort_ed {
namespace {

struct GlyphSource {
  char character;
  std::string_view strokes;
};

// Strokes are separated by spaces, points are written as a digit (x) and a letter (y: a is -3, d the
// baseline, j the height of small letters, m that of capitals); ~ makes a stroke a smooth curve through its
// points.
constexpr auto kSources = std::to_array<GlyphSource>({
    {'0', "~3m1l0i0h1e3d5e6h6i5l3m"},
    {'1', "1k3m3d 1d5d"},
    {'2', "~0k1l3m5l6j5h0d 0d6d"},
    {'3', "~0l2m4m6k4i2i ~2i4i6g5e3d1d0e"},
    {'4', "5d5m0f7f"},
    {'5', "6m1m0i ~0i2j4j6h6f5e3d1d0e"},
    {'6', "~5m3l1j0g0f1e3d5e6f6g5i3j1i0g"},
    {'7', "0m6m2d"},
    {'8', "~3m1l0k1j3i5j6k5l3m ~3i1h0f1e3d5e6f5h3i"},
    {'9', "~1d3e5g6j6k5l3m1l0k0j1h3g5h6j"},
    {'A', "0d3m6d 1g5g"},
    {'B', "3m0m0d3d 0i3i ~3m5l5j3i ~3i6h6e3d"},
    {'C', "~6l4m3m1l0j0g1e3d4d6e"},
    {'D', "2m0m0d2d ~2m5l6i6h5e2d"},
    {'E', "6m0m0d6d 0i5i"},
    {'F', "6m0m0d 0i5i"},
    {'G', "~6l4m3m1l0j0g1e3d4d6e 6e6h4h"},
    {'H', "0m0d 6m6d 0i6i"},
    {'I', "0m0d"},
    {'J', "4m4f ~4f3d1d0f"},
    {'K', "0m0d 6m0g 2i6d"},
    {'L', "0m0d5d"},
    {'M', "0d0m3f6m6d"},
    {'N', "0d0m6d6m"},
    {'O', "~3m1l0j0g1e3d5e6g6j5l3m"},
    {'P', "4m0m0d 0h4h ~4m6l6i4h"},
    {'Q', "~3m1l0j0g1e3d5e6g6j5l3m 4f6c"},
    {'R', "4m0m0d 0h4h ~4m6l6i4h 3h6d"},
    {'S', "~6l4m2m0k1i5h6f4d2d0e"},
    {'T', "0m6m 3m3d"},
    {'U', "0m0g ~0g1e3d5e6g 6g6m"},
    {'V', "0m3d6m"},
    {'W', "0m2d4m6d8m"},
    {'X', "0m6d 6m0d"},
    {'Y', "0m3i6m 3i3d"},
    {'Z', "0m6m0d6d"},
    {'a', "5j5d ~5h3j2j0h0f2d3d5f"},
    {'b', "0m0d ~0h2j3j5h5f3d2d0f"},
    {'c', "~5i3j2j0h0f2d3d5e"},
    {'d', "5m5d ~5h3j2j0h0f2d3d5f"},
    {'e', "0g5g ~5g5h3j2j0h0f2d3d5e"},
    {'f', "1d1k ~1k2m4m 0j3j"},
    {'g', "5j5c ~5c4a2a0b ~5h3j2j0h0f2d3d5f"},
    {'h', "0m0d ~0h2j3j5h 5h5d"},
    {'i', "0j0d 0l"},
    {'j', "1j1b ~1b1a0a 1l"},
    {'k', "0m0d 4j0f 1g4d"},
    {'l', "0m0d"},
    {'m', "0j0d ~0h1j3j4h 4h4d ~4h5j7j8h 8h8d"},
    {'n', "0j0d ~0h2j3j5h 5h5d"},
    {'o', "~2j0h0f2d3d5f5h3j2j"},
    {'p', "0j0a ~0h2j3j5h5f3d2d0f"},
    {'q', "5j5a ~5h3j2j0h0f2d3d5f"},
    {'r', "0j0d ~0h1i2j3j"},
    {'s', "~4i3j1j0i1h3g4f3d1d0e"},
    {'t', "1l1f ~1f2d4d 0j3j"},
    {'u', "0j0f ~0f2d3d5f 5j5d"},
    {'v', "0j2d4j"},
    {'w', "0j2d4j6d8j"},
    {'x', "0j4d 4j0d"},
    {'y', "0j2d 4j1a"},
    {'z', "0j4j0d4d"},
    {'.', "0d"},
    {',', "1d0b"},
    {':', "0d 0i"},
    {';', "1d0b 1i"},
    {'-', "0h4h"},
    {'+', "0h6h 3k3e"},
    {'=', "0i5i 0g5g"},
    {'/', "0c4m"},
    {'\\', "4c0m"},
    {'(', "~2m0j0f2c"},
    {')', "~0m2j2f0c"},
    {'[', "2m0m0c2c"},
    {']', "0m2m2c0c"},
    {'%', "0d7m ~1m0l1k2l1m ~6f5e6d7e6f"},
    {'_', "0c5c"},
    {'^', "0k2m4k"},
    {'*', "0j4g 4j0g 2k2f"},
    {'<', "5k0h5e"},
    {'>', "0k5h0e"},
    {'|', "0m0c"},
    {'!', "0m0g 0d"},
    {'?', "~0l1m3m4l4j2h2g 2d"},
    {'\'', "0m0k"},
    {'"', "0m0k 2m2k"},
    {'#', "1d2m 4d5m 0g6g 0j6j"},
    {'~', "~0h1i3g4h"},
    {' ', "0d0d"},
});

Position Between(Position a, Position b, Position c, Position d, double t) {
  const auto spline = [t](double p0, double p1, double p2, double p3) {
    return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
  };
  return {spline(a.x, b.x, c.x, d.x), spline(a.y, b.y, c.y, d.y)};
}

// A Catmull-Rom curve; one that ends where it begins has no corner there.
std::vector<Position> Smooth(const std::vector<Position>& points) {
  constexpr int kPieces = 6;
  const size_t n = points.size();
  const bool closed = points.front().x == points.back().x && points.front().y == points.back().y;
  std::vector<Position> curve;
  for (size_t i = 0; i + 1 < n; ++i) {
    const Position before = i > 0 ? points[i - 1] : closed ? points[n - 2] : points[0];
    const Position after = i + 2 < n ? points[i + 2] : closed ? points[1] : points[n - 1];
    for (int piece = 0; piece < kPieces; ++piece)
      curve.push_back(Between(before, points[i], points[i + 1], after, static_cast<double>(piece) / kPieces));
  }
  curve.push_back(points.back());
  return curve;
}

Glyph Parse(std::string_view source) {
  Glyph glyph;
  while (!source.empty()) {
    std::string_view stroke = source.substr(0, source.find(' '));
    source.remove_prefix(std::min(stroke.size() + 1, source.size()));
    const bool smooth = stroke.starts_with('~');
    if (smooth) stroke.remove_prefix(1);
    std::vector<Position> points;
    for (size_t i = 0; i + 1 < stroke.size(); i += 2)
      points.push_back({static_cast<double>(stroke[i] - '0'), static_cast<double>(stroke[i + 1] - 'd')});
    for (const Position& point : points) glyph.width = std::max(glyph.width, point.x);
    glyph.strokes.push_back(smooth ? Smooth(points) : points);
  }
  return glyph;
}

std::array<Glyph, 128> MakeGlyphs() {
  std::array<Glyph, 128> glyphs;
  glyphs.fill(Parse("0d0m5m5d0d"));
  for (const GlyphSource& source : kSources)
    glyphs[static_cast<size_t>(source.character)] = Parse(source.strokes);
  glyphs[' '] = {.width = 2, .strokes = {}};
  return glyphs;
}

}  // namespace

const Glyph& FindGlyph(char character) {
  static const std::array<Glyph, 128> glyphs = MakeGlyphs();
  const auto code = static_cast<unsigned char>(character);
  return glyphs[code < glyphs.size() ? code : 0];
}

}  // namespace ort_ed
