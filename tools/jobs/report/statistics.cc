#include "tools/jobs/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace ort_ed {
namespace {

constexpr int64_t kMostPairs = 2000;

std::vector<double> Means(const RowTable& table) {
  std::vector<double> means(static_cast<size_t>(table.columns));
  for (int64_t row = 0; row < table.rows; ++row)
    for (size_t i = 0; i < means.size(); ++i) means[i] += table.Row(row)[i];
  for (double& mean : means) mean /= static_cast<double>(table.rows);
  return means;
}

double Correlation(const RowTable& table, const std::vector<double>& means, size_t i, size_t j) {
  int64_t both = 0;
  for (int64_t row = 0; row < table.rows; ++row) both += table.Row(row)[i] & table.Row(row)[j];
  const double covariance = static_cast<double>(both) / static_cast<double>(table.rows) - means[i] * means[j];
  return covariance / std::sqrt(means[i] * (1 - means[i]) * means[j] * (1 - means[j]));
}

// Pairs of `bits` that are of different variables: how many there are.
int64_t CountPairs(const std::vector<size_t>& bits, const Variables& variables) {
  std::vector<int64_t> of_variable(static_cast<size_t>(variables.size()));
  for (const size_t bit : bits)
    ++of_variable[static_cast<size_t>(variables.variable_of(static_cast<int64_t>(bit)))];
  int64_t twice = std::ssize(bits) * std::ssize(bits);
  for (const int64_t count : of_variable) twice -= count * count;
  return twice / 2;
}

// All of them, or kMostPairs drawn ones.
std::vector<std::pair<size_t, size_t>> ChoosePairs(const std::vector<size_t>& bits,
                                                   const Variables& variables, uint64_t seed) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto add = [&](size_t a, size_t b) {
    const auto variable = [&](size_t i) { return variables.variable_of(static_cast<int64_t>(bits[i])); };
    if (variable(a) != variable(b)) pairs.emplace_back(bits[std::min(a, b)], bits[std::max(a, b)]);
  };
  if (CountPairs(bits, variables) <= kMostPairs) {
    for (size_t a = 0; a < bits.size(); ++a)
      for (size_t b = a + 1; b < bits.size(); ++b) add(a, b);
    return pairs;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<size_t> any(0, bits.size() - 1);
  while (std::ssize(pairs) < kMostPairs) {
    const size_t a = any(random), b = any(random);
    add(a, b);
  }
  return pairs;
}

}  // namespace

std::vector<DataAndModel> CompareMeans(const RowTable& data, const RowTable& samples) {
  const std::vector<double> of_data = Means(data), of_model = Means(samples);
  std::vector<DataAndModel> means;
  for (size_t i = 0; i < of_data.size(); ++i) means.push_back({of_data[i], of_model[i]});
  return means;
}

std::vector<PairCorrelation> CompareCorrelations(const RowTable& data, const RowTable& samples,
                                                 const Variables& variables, uint64_t seed) {
  const std::vector<double> of_data = Means(data), of_model = Means(samples);
  std::vector<size_t> varying;
  for (size_t i = 0; i < of_data.size(); ++i)
    if (of_data[i] > 0 && of_data[i] < 1 && of_model[i] > 0 && of_model[i] < 1) varying.push_back(i);
  std::vector<PairCorrelation> correlations;
  for (const auto& [i, j] : ChoosePairs(varying, variables, seed))
    correlations.push_back({static_cast<int64_t>(i),
                            static_cast<int64_t>(j),
                            {Correlation(data, of_data, i, j), Correlation(samples, of_model, i, j)}});
  return correlations;
}

}  // namespace ort_ed
