#include "runtime/data/gray_code.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr int kMagnitudeBits = PlanarCode::kCoordinateBits - 1;
constexpr double kCells = 1 << kMagnitudeBits;

void CheckSize(size_t size) {
  if (size != PlanarCode::kBits)
    throw Error(ErrorCode::kInvalidArgument, "a point of the plane has " + std::to_string(PlanarCode::kBits) +
                                                 " bits, not " + std::to_string(size));
}

void EncodeCoordinate(double scaled, uint8_t* bits) {
  const auto magnitude = static_cast<uint32_t>(std::min(std::abs(scaled), kCells - 1));
  const uint32_t gray = GrayFromBinary(magnitude);
  bits[0] = scaled < 0;
  for (int i = 0; i < kMagnitudeBits; ++i) bits[1 + i] = gray >> (kMagnitudeBits - 1 - i) & 1;
}

double DecodeCoordinate(const uint8_t* bits) {
  uint32_t gray = 0;
  for (int i = 0; i < kMagnitudeBits; ++i) gray = gray << 1 | (bits[1 + i] & 1);
  const double middle = BinaryFromGray(gray) + 0.5;
  return bits[0] ? -middle : middle;
}

}  // namespace

PlanarCode::PlanarCode(double f_scale) : limit_(f_scale + 1), int_scale_(kCells / limit_) {
  if (!(f_scale > 0) || !std::isfinite(f_scale))
    throw Error(ErrorCode::kInvalidArgument, "the scale of planar data must be a positive number");
}

void PlanarCode::Encode(PlanarPoint point, std::span<uint8_t> bits) const {
  CheckSize(bits.size());
  EncodeCoordinate(point.x * int_scale_, bits.data());
  EncodeCoordinate(point.y * int_scale_, bits.data() + kCoordinateBits);
}

PlanarPoint PlanarCode::Decode(std::span<const uint8_t> bits) const {
  CheckSize(bits.size());
  return {DecodeCoordinate(bits.data()) / int_scale_,
          DecodeCoordinate(bits.data() + kCoordinateBits) / int_scale_};
}

}  // namespace ort_ed
