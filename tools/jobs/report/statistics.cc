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

// All pairs of `variables`, or kMostPairs drawn ones.
std::vector<std::pair<size_t, size_t>> ChoosePairs(const std::vector<size_t>& variables, uint64_t seed) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto count = static_cast<int64_t>(variables.size());
  if (count * (count - 1) / 2 <= kMostPairs) {
    for (size_t a = 0; a < variables.size(); ++a)
      for (size_t b = a + 1; b < variables.size(); ++b) pairs.emplace_back(variables[a], variables[b]);
    return pairs;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<size_t> any(0, variables.size() - 1);
  while (std::ssize(pairs) < kMostPairs) {
    const size_t a = any(random), b = any(random);
    if (a != b) pairs.emplace_back(variables[std::min(a, b)], variables[std::max(a, b)]);
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
                                                 uint64_t seed) {
  const std::vector<double> of_data = Means(data), of_model = Means(samples);
  std::vector<size_t> varying;
  for (size_t i = 0; i < of_data.size(); ++i)
    if (of_data[i] > 0 && of_data[i] < 1 && of_model[i] > 0 && of_model[i] < 1) varying.push_back(i);
  std::vector<PairCorrelation> correlations;
  for (const auto& [i, j] : ChoosePairs(varying, seed))
    correlations.push_back({static_cast<int64_t>(i),
                            static_cast<int64_t>(j),
                            {Correlation(data, of_data, i, j), Correlation(samples, of_model, i, j)}});
  return correlations;
}

}  // namespace ort_ed
