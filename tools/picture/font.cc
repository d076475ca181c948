#include "tools/picture/font.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

namespace ort_ed {
namespace {

struct GlyphSource {
  char32_t character;
  std::string_view strokes;
};

// Strokes are separated by spaces, points are written as a digit (x) and a letter (y: a is -3, d the
// baseline, j the height of small letters, m that of capitals); ~ makes a stroke a smooth curve through its
// points.
constexpr auto kSources = std::to_array<GlyphSource>({
    {U'0', "~3m1l0i0h1e3d5e6h6i5l3m"},
    {U'1', "1k3m3d 1d5d"},
    {U'2', "~0k1l3m5l6j5h0d 0d6d"},
    {U'3', "~0l2m4m6k4i2i ~2i4i6g5e3d1d0e"},
    {U'4', "5d5m0f7f"},
    {U'5', "6m1m0i ~0i2j4j6h6f5e3d1d0e"},
    {U'6', "~5m3l1j0g0f1e3d5e6f6g5i3j1i0g"},
    {U'7', "0m6m2d"},
    {U'8', "~3m1l0k1j3i5j6k5l3m ~3i1h0f1e3d5e6f5h3i"},
    {U'9', "~1d3e5g6j6k5l3m1l0k0j1h3g5h6j"},
    {U'A', "0d3m6d 1g5g"},
    {U'B', "3m0m0d3d 0i3i ~3m5l5j3i ~3i6h6e3d"},
    {U'C', "~6l4m3m1l0j0g1e3d4d6e"},
    {U'D', "2m0m0d2d ~2m5l6i6h5e2d"},
    {U'E', "6m0m0d6d 0i5i"},
    {U'F', "6m0m0d 0i5i"},
    {U'G', "~6l4m3m1l0j0g1e3d4d6e 6e6h4h"},
    {U'H', "0m0d 6m6d 0i6i"},
    {U'I', "0m0d"},
    {U'J', "4m4f ~4f3d1d0f"},
    {U'K', "0m0d 6m0g 2i6d"},
    {U'L', "0m0d5d"},
    {U'M', "0d0m3f6m6d"},
    {U'N', "0d0m6d6m"},
    {U'O', "~3m1l0j0g1e3d5e6g6j5l3m"},
    {U'P', "4m0m0d 0h4h ~4m6l6i4h"},
    {U'Q', "~3m1l0j0g1e3d5e6g6j5l3m 4f6c"},
    {U'R', "4m0m0d 0h4h ~4m6l6i4h 3h6d"},
    {U'S', "~6l4m2m0k1i5h6f4d2d0e"},
    {U'T', "0m6m 3m3d"},
    {U'U', "0m0g ~0g1e3d5e6g 6g6m"},
    {U'V', "0m3d6m"},
    {U'W', "0m2d4m6d8m"},
    {U'X', "0m6d 6m0d"},
    {U'Y', "0m3i6m 3i3d"},
    {U'Z', "0m6m0d6d"},
    {U'a', "5j5d ~5h3j2j0h0f2d3d5f"},
    {U'b', "0m0d ~0h2j3j5h5f3d2d0f"},
    {U'c', "~5i3j2j0h0f2d3d5e"},
    {U'd', "5m5d ~5h3j2j0h0f2d3d5f"},
    {U'e', "0g5g ~5g5h3j2j0h0f2d3d5e"},
    {U'f', "1d1k ~1k2m4m 0j3j"},
    {U'g', "5j5c ~5c4a2a0b ~5h3j2j0h0f2d3d5f"},
    {U'h', "0m0d ~0h2j3j5h 5h5d"},
    {U'i', "0j0d 0l"},
    {U'ı', "0j0d"},
    {U'j', "1j1b ~1b1a0a 1l"},
    {U'k', "0m0d 4j0f 1g4d"},
    {U'l', "0m0d"},
    {U'm', "0j0d ~0h1j3j4h 4h4d ~4h5j7j8h 8h8d"},
    {U'n', "0j0d ~0h2j3j5h 5h5d"},
    {U'o', "~2j0h0f2d3d5f5h3j2j"},
    {U'p', "0j0a ~0h2j3j5h5f3d2d0f"},
    {U'q', "5j5a ~5h3j2j0h0f2d3d5f"},
    {U'r', "0j0d ~0h1i2j3j"},
    {U's', "~4i3j1j0i1h3g4f3d1d0e"},
    {U't', "1l1f ~1f2d4d 0j3j"},
    {U'u', "0j0f ~0f2d3d5f 5j5d"},
    {U'v', "0j2d4j"},
    {U'w', "0j2d4j6d8j"},
    {U'x', "0j4d 4j0d"},
    {U'y', "0j2d 4j1a"},
    {U'z', "0j4j0d4d"},
    {U'.', "0d"},
    {U',', "1d0b"},
    {U':', "0d 0i"},
    {U';', "1d0b 1i"},
    {U'-', "0h4h"},
    {U'+', "0h6h 3k3e"},
    {U'=', "0i5i 0g5g"},
    {U'/', "0c4m"},
    {U'\\', "4c0m"},
    {U'(', "~2m0j0f2c"},
    {U')', "~0m2j2f0c"},
    {U'[', "2m0m0c2c"},
    {U']', "0m2m2c0c"},
    {U'%', "0d7m ~1m0l1k2l1m ~6f5e6d7e6f"},
    {U'_', "0c5c"},
    {U'^', "0k2m4k"},
    {U'*', "0j4g 4j0g 2k2f"},
    {U'<', "5k0h5e"},
    {U'>', "0k5h0e"},
    {U'|', "0m0c"},
    {U'!', "0m0g 0d"},
    {U'?', "~0l1m3m4l4j2h2g 2d"},
    {U'\'', "0m0k"},
    {U'"', "0m0k 2m2k"},
    {U'#', "1d2m 4d5m 0g6g 0j6j"},
    {U'~', "~0h1i3g4h"},
    {U' ', "0d0d"},
    {U'&', "~7g6e3d1d0f1h4j4l3m2m1k7d"},
    {U'$', "~6k4l2l0k1i5h6f4e2e0f 3m3c"},
    {U'@', "~6h5j3j2h3f5f6h 6j6g ~6g7f8h7k4m1k0h1e4c7d"},
    {U'{', "~3m2l2i0h2g2d3c"},
    {U'}', "~0m1l1i3h1g1d0c"},
    {U'`', "0m1k"},
    {U'€', "~7l5m3l2h3e5d7e 0i5i 0g5g"},
    {U'£', "~5l4m3m2k2f0d 0d6d 0h4h"},
    {U'¥', "0m3i6m 3i3d 1h5h 1f5f"},
    {U'°', "~1m0l1k2l1m"},
    {U'§', "~4l3m1m0k4h4f ~0h0j4g3d1d0e"},
    {U'µ', "0j0b ~0f2d3d5f 5j5d"},
    {U'–', "0h5h"},
    {U'—', "0h8h"},
    {U'…', "0d 2d 4d"},
    {U'·', "0h"},
    {U'±', "0i6i 3l3f 0d6d"},
    {U'×', "0j4f 4j0f"},
    {U'ß', "0d0k ~0k1m3m4k3i5g4d2d"},
    {U'Æ', "8m4m0d 4m4d8d 1g4g 4i7i"},
    {U'æ', "4j4d ~4h2j1j0h0f1d2d4f 4g8g ~8g8h6j4h4f6d7d8e"},
});

// Letters, the letter that each is drawn on, and its mark.
constexpr std::u32string_view kMarked =
    U"ÀA`ÁA'ÂA^ÃA~ÄA:ÅA°ÇC,ÈE`ÉE'ÊE^ËE:ÌI`ÍI'ÎI^ÏI:ÑN~ÒO`ÓO'ÔO^ÕO~ÖO:ØO/ÙU`ÚU'ÛU^ÜU:ÝY'"
    U"àa`áa'âa^ãa~äa:åa°çc,èe`ée'êe^ëe:ìi`íi'îi^ïi:ñn~òo`óo'ôo^õo~öo:øo/ùu`úu'ûu^üu:ýy'ÿy:"
    U"ĄA,ąa,ĆC'ćc'ČCvčcvĎDvďdvĘE,ęe,ĚEvěevĞGvğgvİI.ŁL/łl/ŃN'ńn'ŇNvňnvŐO:őo:ŘRvřrvŚS'śs'ŞS,şs,ŠSvšsv"
    U"ŤTvťtvŮU°ůu°ŰU:űu:ŹZ'źz'ŻZ.żz.ŽZvžzvȘS,șs,ȚT,țt,";

// Of a letter that is so wide; `base`: how high small or capital letters are.
std::vector<std::vector<Position>> StrokesOfMark(char32_t mark, double width, double base) {
  const double c = width / 2, y = base + 2.5;
  switch (mark) {
    case U'`':
      return {{{c - 1, y + 0.5}, {c + 0.7, y - 1}}};
    case U'\'':
      return {{{c + 1, y + 0.5}, {c - 0.7, y - 1}}};
    case U'^':
      return {{{c - 1.5, y - 1}, {c, y + 0.5}, {c + 1.5, y - 1}}};
    case U'v':
      return {{{c - 1.5, y + 0.5}, {c, y - 1}, {c + 1.5, y + 0.5}}};
    case U'~':
      return {{{c - 2, y - 0.7}, {c - 1, y + 0.3}, {c + 1, y - 0.7}, {c + 2, y + 0.3}}};
    case U':':
      return {{{c - 1.5, y - 0.3}}, {{c + 1.5, y - 0.3}}};
    case U'.':
      return {{{c, y - 0.3}}};
    case U'°':
      return {{{c - 1, y}, {c, y + 1}, {c + 1, y}, {c, y - 1}, {c - 1, y}}};
    case U',':
      return {{{c, 0}, {c + 0.6, -1.5}, {c - 0.8, -2.3}}};
    default:
      return {{{-0.7, base * 0.2}, {width + 0.7, base * 0.8}}};  // through it
  }
}

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

constexpr char32_t kUnknown = U'\uFFFD';

std::map<char32_t, Glyph> MakeGlyphs() {
  std::map<char32_t, Glyph> glyphs;
  glyphs[kUnknown] = Parse("0d0m5m5d0d");
  for (const GlyphSource& source : kSources) glyphs[source.character] = Parse(source.strokes);
  glyphs[U' '] = glyphs[U'\u00A0'] = {.width = 2, .strokes = {}};
  for (size_t i = 0; i < kMarked.size(); i += 3) {
    const char32_t on = kMarked[i + 1];
    Glyph glyph = glyphs.at(on);
    if (on == U'i') glyph.strokes.pop_back();  // its own dot
    const bool small = on >= U'a' && on != U'd' && on != U'l' && on != U't';
    constexpr double kSmallHeight = 6;
    for (auto& stroke : StrokesOfMark(kMarked[i + 2], glyph.width, small ? kSmallHeight : kCapitalHeight))
      glyph.strokes.push_back(std::move(stroke));
    glyphs[kMarked[i]] = std::move(glyph);
  }
  return glyphs;
}

// How many bytes follow the first of a character; nothing of a byte that is no first one.
int FollowingBytes(unsigned char first) {
  if (first < 0x80) return 0;
  return first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : -1;
}

}  // namespace

const Glyph& FindGlyph(char32_t character) {
  static const std::map<char32_t, Glyph> glyphs = MakeGlyphs();
  const auto found = glyphs.find(character);
  return found == glyphs.end() ? glyphs.at(kUnknown) : found->second;
}

std::u32string CodePoints(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const int following = FollowingBytes(first);
    char32_t point = following == 0 ? first : first & (0x3F >> std::max(following, 0));
    int taken = 0;
    while (taken < following && taken + 1 < std::ssize(text) && (text[taken + 1] & 0xC0) == 0x80)
      point = point << 6 | (text[++taken] & 0x3F);
    points += taken == following ? point : kUnknown;
    text.remove_prefix(static_cast<size_t>(taken) + 1);
  }
  return points;
}

}  // namespace ort_ed
