#pragma once

#include <cmath>
#include <map>

namespace ort_ed {

// Pearson's statistic of observed counts against expected probabilities. Cells that expect fewer than
// `kSmallestCell` draws are taken together.
struct ChiSquare {
  static constexpr double kSmallestCell = 10;

  double statistic = 0;
  int degrees = 0;
  double draws_where_none_can_be = 0;  // observed in cells of probability zero

  // A value that a chi-square variable exceeds with probability below 1e-9: Laurent and Massart (2000), lemma
  // 1, P(X >= k + 2 sqrt(k t) + 2 t) <= exp(-t).
  double Bound() const {
    const double t = 9 * std::log(10.0);
    return degrees + 2 * std::sqrt(degrees * t) + 2 * t;
  }
  bool Passes() const { return draws_where_none_can_be == 0 && statistic <= Bound(); }
};

template <typename Key>
ChiSquare ChiSquareTest(const std::map<Key, double>& counts, const std::map<Key, double>& probabilities) {
  double draws = 0;
  for (const auto& [key, count] : counts) draws += count;
  ChiSquare result;
  double small_expected = 0, small_observed = 0;
  int cells = 0;
  const auto add = [&](double observed, double expected) {
    result.statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
  };
  for (const auto& [key, probability] : probabilities) {
    if (probability <= 0) continue;
    const auto found = counts.find(key);
    const double observed = found == counts.end() ? 0 : found->second;
    if (draws * probability < ChiSquare::kSmallestCell) {
      small_expected += draws * probability;
      small_observed += observed;
    } else {
      add(observed, draws * probability);
    }
  }
  if (small_expected > 0) add(small_observed, small_expected);
  for (const auto& [key, count] : counts) {
    const auto found = probabilities.find(key);
    if (found == probabilities.end() || found->second <= 0) result.draws_where_none_can_be += count;
  }
  result.degrees = cells - 1;
  return result;
}

}  // namespace ort_ed
