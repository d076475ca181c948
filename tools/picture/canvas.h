#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Color&) const = default;
};

inline constexpr Color kWhite{255, 255, 255};
inline constexpr Color kInk{38, 43, 51};          // text and frames
inline constexpr Color kFaintInk{112, 119, 130};  // tick labels
inline constexpr Color kGridLine{229, 232, 237};

// Coordinates are pixels, x to the right and y down; the centre of the first pixel is (0.5, 0.5).
struct Position {
  double x = 0;
  double y = 0;
};

struct Rect {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  Rect Inset(double by_left, double by_top, double by_right, double by_bottom) const {
    return {left + by_left, top + by_top, width - by_left - by_right, height - by_top - by_bottom};
  }
};

enum class Align { kLeft, kCentre, kRight };

struct TextStyle {
  double size = 10;  // height of capitals in pixels
  Color color = kInk;
  Align align = Align::kLeft;  // of the text to the position
  bool upwards = false;        // turned by 90 degrees, for vertical axes
};

// An RGB picture with the few primitives that charts need, all antialiased. What falls outside is cut off.
class Canvas {
 public:
  Canvas(int width, int height, Color background = kWhite);

  int width() const { return width_; }
  int height() const { return height_; }
  Color At(int x, int y) const;
  std::span<const Color> pixels() const { return pixels_; }

  void SetPixel(int x, int y, Color color);
  void Fill(const Rect& rect, Color color, double opacity = 1);
  void Outline(const Rect& rect, Color color, double line_width = 1);
  void Line(std::span<const Position> points, Color color, double line_width);
  void Disc(Position centre, double radius, Color color, double opacity = 1);
  // The baseline runs through `at`. Characters without a glyph are drawn as boxes.
  void Text(Position at, std::string_view text, const TextStyle& style = {});
  static double TextWidth(std::string_view text, double size);

  // The file as bytes, and written as one AtomicFile.
  std::string Png() const;
  void Save(const std::string& path) const;

 private:
  void Blend(int x, int y, Color color, double opacity);
  void Strokes(const std::vector<std::vector<Position>>& strokes, Color color, double line_width);

  int width_;
  int height_;
  std::vector<Color> pixels_;
};

// Reads a PNG file back, for tests and for whoever wants to compose pictures. Throws kBadData.
Canvas DecodePng(std::string_view png);

}  // namespace ort_ed
