#pragma once

#include <cstdint>
#include <vector>

#include "runtime/data/row_reader.h"

namespace ort_ed {

// `count` different rows of the table (all, if it has no more), drawn by the seed: the first rows of a file
// that is sorted by class would stand for one class only.
std::vector<float> RandomRows(const RowTable& table, int64_t count, uint64_t seed);

}  // namespace ort_ed
