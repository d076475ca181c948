#include "models/inspect/value_patterns.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ort_ed {
namespace {

bool Counts(std::span<const float> values) {
  if (values.size() < 3) return false;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<float>(i)) return false;
  return true;
}

// 1, r, r^2, ... with r < 1: the wavelengths of rotary and sinusoidal positions.
bool IsGeometric(std::span<const float> values) {
  if (values.size() < 4 || values[0] != 1 || !(values[1] > 0 && values[1] < 1)) return false;
  for (size_t i = 1; i < values.size(); ++i)
    if (!(std::abs(values[i] - values[i - 1] * values[1]) <= 1e-4f * values[i - 1])) return false;
  return true;
}

// 0, and a number so far below that exp() of it is 0.
bool IsAdditiveMask(std::span<const float> values) {
  constexpr float kFar = -1e4f;
  const float lowest = std::ranges::min(values);
  return lowest <= kFar && std::ranges::count(values, 0.0f) > 0 &&
         std::ranges::all_of(values, [&](float value) { return value == 0 || value == lowest; });
}

// For each row, whether its entries are kept.
std::vector<std::vector<bool>> KeptEntries(std::span<const float> values, int64_t rows, int64_t columns) {
  std::vector<std::vector<bool>> kept(static_cast<size_t>(rows), std::vector<bool>(columns));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      kept[row][column] = values[row * columns + column] != 0;
  return kept;
}

bool Includes(const std::vector<bool>& larger, const std::vector<bool>& smaller) {
  for (size_t i = 0; i < smaller.size(); ++i)
    if (smaller[i] && !larger[i]) return false;
  return true;
}

}  // namespace

std::string DescribePattern(std::span<const float> values) {
  if (values.empty()) return "";
  const auto infinite = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (infinite != values.end()) {
    if (std::isnan(*infinite)) return "holds nan";
    return *infinite < 0 ? "holds -inf" : "holds inf";
  }
  if (IsAdditiveMask(values)) return "a mask of 0 and large negative numbers";
  if (Counts(values)) return "counts 0, 1, 2, ...";
  if (IsGeometric(values)) return "frequencies of positions";
  return "";
}

bool IsZerosAndOnes(std::span<const float> values) {
  const auto ones = std::ranges::count(values, 1.0f), zeros = std::ranges::count(values, 0.0f);
  return ones > 0 && zeros > 0 && ones + zeros == std::ssize(values);
}

bool IsIdentity(std::span<const float> values, int64_t rows, int64_t columns) {
  if (rows != columns || std::ssize(values) != rows * columns) return false;
  for (int64_t i = 0; i < std::ssize(values); ++i)
    if (values[i] != (i / columns == i % columns ? 1.0f : 0.0f)) return false;
  return true;
}

bool HasMaskedZeros(std::span<const float> values, int64_t rows, int64_t columns, bool is_kernel) {
  const auto zeros = std::ranges::count(values, 0.0f);
  if (zeros == 0 || zeros == std::ssize(values) || rows < 2 || columns < 2) return false;
  std::vector<std::vector<bool>> kept = KeptEntries(values, rows, columns);
  std::ranges::sort(kept, {}, [](const auto& row) { return std::ranges::count(row, true); });
  for (size_t row = 1; row < kept.size(); ++row)
    if (!Includes(kept[row], kept[row - 1])) return false;
  // Rows or columns of zeros alone are no mask.
  const auto different = std::unique(kept.begin(), kept.end()) - kept.begin();
  return different >= (is_kernel ? 1 : 3);
}

}  // namespace ort_ed
