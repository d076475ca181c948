#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ort_ed {

// Loops over rows of {0,1} values, written so that the compiler vectorises them. Each says whether all values
// were good; where the bad one is, is found afterwards, for the message.

// True if every value is 0 or 1. NaN is neither.
bool AreBinary(const float* values, size_t count);

// Writes each value as float. True if every value was 0 or 1.
bool Widen(const uint8_t* values, size_t count, float* floats);

// Unpacks rows of `dimension` bits (top bit first, each row padded to whole bytes). True if the padding was
// 0.
bool Unpack(const uint8_t* packed, size_t rows, size_t dimension, float* floats);

}  // namespace ort_ed
