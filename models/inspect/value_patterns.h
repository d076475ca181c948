#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ort_ed {

// What the values say where nobody drew or learned them: "holds -inf", "counts 0, 1, 2, ..."; else "".
std::string DescribePattern(std::span<const float> values);

// Two or more values, of which some are 0, some are 1, and none is anything else.
bool IsZerosAndOnes(std::span<const float> values);

// Ones on the diagonal of a square matrix, zeros elsewhere.
bool IsIdentity(std::span<const float> values, int64_t rows, int64_t columns);

// Whether zeros lie as in weights that a mask of masked autoencoders or of masked convolutions was multiplied
// into: what one row keeps, the next one keeps as well. `is_kernel`: [out, in x positions], where all rows
// may have the same zeros.
bool HasMaskedZeros(std::span<const float> values, int64_t rows, int64_t columns, bool is_kernel);

}  // namespace ort_ed
