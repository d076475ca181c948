#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ort_ed {

// How far the values of a column lie apart at least: 1 of whole numbers, 0.01 of prices.
class Spacing {
 public:
  static constexpr int kMostDecimals = 6;

  static Spacing Whole() { return Spacing(0); }
  // By the decimals that all of them need; nothing is known where those are more than kMostDecimals.
  static Spacing Of(std::span<const double> values);

  int decimals() const { return decimals_; }  // -1: not known
  // The next value that there may be.
  double After(double value) const;

 private:
  explicit Spacing(int decimals) : decimals_(decimals) {}

  int decimals_;
};

// The edges of at most `bins` bins that hold about equally many of the values, which ascend. A value that
// fills a bin by itself has it for itself. A bin ends at the next value that there may be.
std::vector<double> BinEdges(std::span<const double> values, int64_t bins, const Spacing& spacing);

}  // namespace ort_ed
