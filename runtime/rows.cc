#include "runtime/rows.h"

#include <array>
#include <cstring>

namespace ort_ed {
namespace {

constexpr size_t kBlock = 4096;  // values between two looks at the flag: bad data ends the loop early

using EightFloats = std::array<float, 8>;

// The eight bits of every byte as floats.
constexpr auto kBitsOfByte = [] {
  std::array<EightFloats, 256> table{};
  for (size_t byte = 0; byte < 256; ++byte)
    for (size_t bit = 0; bit < 8; ++bit) table[byte][bit] = static_cast<float>(byte >> (7 - bit) & 1);
  return table;
}();

}  // namespace

bool AreBinary(const float* values, size_t count) {
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t end = start + kBlock < count ? start + kBlock : count;
    uint32_t bad = 0;
    for (size_t i = start; i < end; ++i)
      bad |= static_cast<uint32_t>(values[i] != 0.0f) & static_cast<uint32_t>(values[i] != 1.0f);
    if (bad != 0) return false;
  }
  return true;
}

bool Widen(const uint8_t* values, size_t count, float* floats) {
  uint8_t seen = 0;
  for (size_t i = 0; i < count; ++i) {
    floats[i] = static_cast<float>(values[i]);
    seen |= values[i];
  }
  return seen <= 1;
}

bool Unpack(const uint8_t* packed, size_t rows, size_t dimension, float* floats) {
  const size_t whole = dimension / 8;
  const size_t rest = dimension % 8;
  unsigned padding = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < whole; ++i, floats += 8)
      std::memcpy(floats, kBitsOfByte[*packed++].data(), sizeof(EightFloats));
    if (rest == 0) continue;
    padding |= static_cast<unsigned>(*packed << rest) & 0xFFu;
    std::memcpy(floats, kBitsOfByte[*packed++].data(), rest * sizeof(float));
    floats += rest;
  }
  return padding == 0;
}

}  // namespace ort_ed
