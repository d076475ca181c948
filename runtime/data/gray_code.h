#pragma once

#include <cstdint>
#include <span>

namespace ort_ed {

// The reflected binary code: neighbouring numbers differ in one bit.
constexpr uint32_t GrayFromBinary(uint32_t binary) { return binary ^ binary >> 1; }
constexpr uint32_t BinaryFromGray(uint32_t gray) {
  for (uint32_t shift = 16; shift > 0; shift /= 2) gray ^= gray >> shift;
  return gray;
}

struct PlanarPoint {
  double x = 0;
  double y = 0;
};

// Points of the plane as 32 bits, 16 for x and then 16 for y, as ALOE and EB-GFN code them: a sign bit (1 for
// negative numbers), then the 15-bit Gray code of |x| in units of the cell, truncated, most significant bit
// first. The zeroes of both signs are different codes, so that all cells have the same size.
class PlanarCode {
 public:
  static constexpr int kCoordinateBits = 16;
  static constexpr int kBits = 2 * kCoordinateBits;

  // `f_scale`: the largest coordinate expected, plus 1. Coordinates up to f_scale + 1 in size have a code of
  // their own; what lies beyond gets the outermost.
  explicit PlanarCode(double f_scale);

  double limit() const { return limit_; }  // f_scale + 1: the square that has codes is [-limit, limit]^2
  double int_scale() const { return int_scale_; }  // cells to a unit of length
  double cell() const { return 1 / int_scale_; }   // length of a cell

  // `bits` and `rows`: kBits values 0 or 1 for each point.
  void Encode(PlanarPoint point, std::span<uint8_t> bits) const;
  PlanarPoint Decode(std::span<const uint8_t> bits) const;  // the middle of the cell

 private:
  double limit_;
  double int_scale_;
};

}  // namespace ort_ed
