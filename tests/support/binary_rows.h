#pragma once

#include <cstdint>
#include <vector>

#include "ort_ed/random.h"

namespace ort_ed {

// The same random rows in the three forms a model scores.
struct BinaryRows {
  BinaryRows(int64_t rows, int64_t dimension, uint64_t seed = 1)
      : bytes(static_cast<size_t>(rows * dimension)),
        floats(bytes.size()),
        packed(static_cast<size_t>(rows * ((dimension + 7) / 8))) {
    constexpr uint32_t kPurpose = 0xb175;
    for (int64_t row = 0; row < rows; ++row) {
      RandomStream random(seed, kPurpose, 0, static_cast<uint64_t>(row));
      for (int64_t column = 0; column < dimension; ++column) {
        const auto at = static_cast<size_t>(row * dimension + column);
        bytes[at] = static_cast<uint8_t>(random.Next32() & 1);
        floats[at] = bytes[at];
        auto& byte = packed[static_cast<size_t>(row * ((dimension + 7) / 8) + column / 8)];
        byte = static_cast<uint8_t>(byte | bytes[at] << (7 - column % 8));
      }
    }
  }

  std::vector<uint8_t> bytes;
  std::vector<float> floats;
  std::vector<uint8_t> packed;
};

}  // namespace ort_ed
