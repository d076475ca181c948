#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tools/picture/charts.h"

namespace ort_ed {

using Chart = std::variant<LineChart, HistogramChart, PlaneChart>;

// Charts beside and below each other, at most `columns` in a row.
Canvas ChartPicture(std::span<const Chart> charts, int columns);

// Rows of bits as pictures of height x width pixels in a grid, one row after the other from the top left; 1
// is dark.
Canvas SampleGridPicture(std::span<const uint8_t> rows, int height, int width);

// A square matrix of couplings, its first row at the top, and beside it the true one unless that is empty;
// both on the same scale, which is symmetric about 0.
Canvas CouplingsPicture(const std::vector<double>& couplings, const std::vector<double>& truth, int side);

// The value that a fraction of the values (not empty) lies below.
double Quantile(std::vector<double> values, double fraction);

}  // namespace ort_ed
