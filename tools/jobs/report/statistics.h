#pragma once

#include <cstdint>
#include <vector>

#include "runtime/data/row_reader.h"
#include "tools/jobs/report/report.h"

namespace ort_ed {

// P(x_i = 1) of every bit, in the data and in the samples.
std::vector<DataAndModel> CompareMeans(const RowTable& data, const RowTable& samples);

// Correlations of all pairs of bits of different variables that vary in both, or of 2,000 pairs drawn by the
// seed where there are more.
std::vector<PairCorrelation> CompareCorrelations(const RowTable& data, const RowTable& samples,
                                                 const Variables& variables, uint64_t seed);

}  // namespace ort_ed
