#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ort_ed {

// The edges of at most `bins` bins that hold about equally many of the values, which ascend. A value that
// fills a bin by itself has it for itself. `whole`: whole numbers, whose bins end in front of one.
std::vector<double> BinEdges(std::span<const double> values, int64_t bins, bool whole);

}  // namespace ort_ed
