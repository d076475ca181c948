#include <cmath>
#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"
#include "tools/picture/canvas.h"
#include "tools/picture/color_map.h"
#include "tools/picture/font.h"

namespace ort_ed {

void PrintTo(const Color& color, std::ostream* out) {
  *out << int{color.red} << "," << int{color.green} << "," << int{color.blue};
}

namespace {

constexpr Color kBlack{0, 0, 0};

// How much ink there is, in pixels.
double Ink(const Canvas& canvas) {
  double ink = 0;
  for (const Color& pixel : canvas.pixels()) ink += 1 - pixel.green / 255.0;
  return ink;
}

TEST(Canvas, FillsWholePixelsAndPartsOfThem) {
  Canvas canvas(4, 4);
  canvas.Fill({1, 1, 2, 1.5}, kBlack);
  EXPECT_EQ(canvas.At(0, 0), kWhite);
  EXPECT_EQ(canvas.At(1, 1), kBlack);
  EXPECT_EQ(canvas.At(2, 1), kBlack);
  EXPECT_EQ(canvas.At(3, 1), kWhite);
  EXPECT_EQ(canvas.At(1, 2), (Color{128, 128, 128}));
}

TEST(Canvas, CutsOffWhatFallsOutside) {
  Canvas canvas(10, 10);
  canvas.Fill({-5, -5, 100, 100}, kBlack);
  EXPECT_EQ(Ink(canvas), 100);
  canvas.SetPixel(-1, 3, kWhite);
  canvas.SetPixel(3, 10, kWhite);
  canvas.Disc({-3, -3}, 2, kWhite);
  canvas.Text({-50, 200}, "outside", {});
  canvas.Line(std::vector<Position>{{-100, -50}, {-10, 300}}, kWhite, 3);
  EXPECT_EQ(Ink(canvas), 100);
}

TEST(Canvas, LinesAndDiscsCoverTheirArea) {
  Canvas line(100, 100);
  line.Line(std::vector<Position>{{20, 30}, {80, 60}}, kBlack, 3);
  const double length = std::hypot(60, 30), ends = 3.14159 * 1.5 * 1.5;
  EXPECT_NEAR(Ink(line), 3 * length + ends, 0.02 * 3 * length);
  Canvas disc(40, 40);
  disc.Disc({20.3, 19.8}, 10, kBlack);
  EXPECT_NEAR(Ink(disc), 314.159, 4);
  Canvas outline(40, 40);
  outline.Outline({5, 5, 20, 10}, kBlack);
  EXPECT_EQ(Ink(outline), 2 * 20 + 2 * 8);
}

TEST(Canvas, TextStandsOnItsBaselineAndAlignsAsAsked) {
  for (const Align align : {Align::kLeft, Align::kCentre, Align::kRight}) {
    Canvas canvas(200, 40);
    canvas.Text({100, 30}, "HHH", {.size = 18, .color = kBlack, .align = align});
    double left = 200, right = 0, top = 40, bottom = 0;
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 200; ++x) {
        if (canvas.At(x, y).green > 127) continue;
        left = std::min(left, x + 0.0), right = std::max(right, x + 1.0);
        top = std::min(top, y + 0.0), bottom = std::max(bottom, y + 1.0);
      }
    }
    const double width = Canvas::TextWidth("HHH", 18);
    const double start = align == Align::kLeft     ? 100
                         : align == Align::kCentre ? 100 - width / 2
                                                   : 100 - width;
    EXPECT_NEAR(left, start, 2);
    EXPECT_NEAR(right, start + width, 2);
    EXPECT_NEAR(bottom, 30, 2);
    EXPECT_NEAR(top, 30 - 18, 2);
  }
}

TEST(Canvas, PngIsReadBackPixelByPixel) {
  Canvas canvas(31, 17, {10, 20, 30});
  canvas.Disc({12, 8}, 5, {200, 100, 50});
  canvas.Text({2, 14}, "png", {.size = 6, .color = kWhite});
  const TempDir folder;
  canvas.Save(folder.File("x.png"));
  const std::string bytes = ReadBytes(folder.File("x.png"));
  EXPECT_TRUE(bytes.starts_with("\x89PNG"));
  const Canvas copy = DecodePng(bytes);
  ASSERT_EQ(copy.width(), 31);
  ASSERT_EQ(copy.height(), 17);
  EXPECT_TRUE(std::equal(copy.pixels().begin(), copy.pixels().end(), canvas.pixels().begin()));
}

TEST(Canvas, ImpossibleSizesAndDamagedPicturesAreErrors) {
  MessageOf(ErrorCode::kInvalidArgument, [] { Canvas(0, 5); });
  MessageOf(ErrorCode::kInvalidArgument, [] { Canvas(5, 1 << 20); });
  MessageOf(ErrorCode::kBadData, [] { DecodePng("not a picture"); });
  MessageOf(ErrorCode::kIo, [] { Canvas(2, 2).Save("/nowhere/at/all.png"); });
}

TEST(Font, EveryLetterAndDigitIsDrawnWithinItsBox) {
  const Glyph& unknown = FindGlyph('\x01');
  std::u32string characters = CodePoints("ÄÖÜäöüßéèçñøÅłŁčšžőűğŞ€£°–…µ");
  for (char32_t character = ' ' + 1; character < 127; ++character) characters += character;
  for (const char32_t code : characters) {
    const auto character = static_cast<uint32_t>(code);
    const Glyph& glyph = FindGlyph(code);
    EXPECT_FALSE(glyph.strokes.empty()) << character;
    EXPECT_NE(&glyph, &unknown) << character;
    for (const auto& stroke : glyph.strokes) {
      for (const Position& point : stroke) {
        EXPECT_GE(point.x, -1) << character;
        EXPECT_LE(point.x, glyph.width + 1) << character;
        EXPECT_GE(point.y, -4) << character;
        EXPECT_LE(point.y, kCapitalHeight + (code < 128 ? 1 : 4)) << character;
      }
    }
  }
  EXPECT_GT(Canvas::TextWidth("a b", 10), Canvas::TextWidth("ab", 10));
  EXPECT_EQ(Canvas::TextWidth("", 10), 0);
  EXPECT_EQ(Canvas::TextWidth("Zürich", 10), Canvas::TextWidth("Zurich", 10));
}

TEST(Font, BytesThatAreNoTextAreOneBoxEach) {
  EXPECT_EQ(CodePoints("aé€"), U"aé€");
  EXPECT_EQ(CodePoints("a\xC3"), U"a\uFFFD");
  EXPECT_EQ(CodePoints("\xA9x\xE2\x82"), U"\uFFFDx\uFFFD");
}

double Luminance(Color color) {
  const auto linear = [](uint8_t value) { return std::pow(value / 255.0, 2.2); };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

TEST(ColorMap, TheSequentialMapRisesInLightness) {
  double before = -1;
  for (int i = 0; i <= 100; ++i) {
    const double here = Luminance(ColorMap::Sequential().At(i / 100.0));
    EXPECT_GT(here, before) << i;
    before = here;
    EXPECT_EQ(ColorMap::Sequential().At(i / 100.0), ColorMap::Reversed().At(1 - i / 100.0)) << i;
  }
  EXPECT_EQ(ColorMap::Sequential().At(-3), ColorMap::Sequential().At(0));
  EXPECT_EQ(ColorMap::Sequential().At(7), ColorMap::Sequential().At(1));
  EXPECT_EQ(ColorMap::Sequential().At(NAN), (Color{200, 200, 200}));
}

TEST(ColorMap, TheDivergingMapIsWhiteInTheMiddleBlueBelowAndRedAbove) {
  const Color low = ColorMap::Diverging().At(0.1), high = ColorMap::Diverging().At(0.9);
  EXPECT_GT(low.blue, low.red + 60);
  EXPECT_GT(high.red, high.blue + 60);
  EXPECT_GT(Luminance(ColorMap::Diverging().At(0.5)), 0.9);
}

}  // namespace
}  // namespace ort_ed
