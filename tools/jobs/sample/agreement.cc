#include "tools/jobs/sample/agreement.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace ort_ed {
namespace {

// The z of which a standard normal number is above with this probability, below one half.
double NormalAbove(double probability) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > probability ? low : high) = middle;
  }
  return low;
}

// The value that Fisher's F passes with this probability, by Paulson (1942): its cube root is a ratio of
// numbers that are nearly normal.
double FisherAbove(double probability, double between, double within) {
  const double z = NormalAbove(probability), a = 2 / (9 * within), b = 2 / (9 * between);
  const double p = 1 - a, q = 1 - b;
  const double spread = p * p - a * z * z;  // of the variance within; not positive: it may be anything
  if (spread <= 0) return std::numeric_limits<double>::infinity();
  return std::pow((p * q + z * std::sqrt(p * p * b + q * q * a - a * b * z * z)) / spread, 3);
}

std::string Limited(double r_hat, double limit) {
  return std::isnan(limit) ? fmt::format("{:.3f} (too few records for a limit)", r_hat)
                           : fmt::format("{:.3f} (limit {:.2f})", r_hat, limit);
}

}  // namespace

// Of halves of chains that agree, R-hat^2 is (n - 1) / n + F / n, where F is the variance of their means as a
// multiple of what n independent records would give: Fisher's, times the records that a chain takes to
// forget.
double RHatLimit(int64_t records, int64_t chains, int64_t variables) {
  constexpr double kMixed = 1.1, kFalseAlarms = 0.01, kForgets = 25;
  const auto halves = static_cast<double>(2 * std::min(chains, TraceRecorder::kMaxChains));
  const auto n = static_cast<double>(records / 2);
  const double f = FisherAbove(kFalseAlarms / static_cast<double>(std::max<int64_t>(variables, 1)),
                               halves - 1, halves * (n - 1));
  return std::max(kMixed, std::sqrt((n - 1) / n + std::min(kForgets, n) * f / n));
}

std::string ChainAgreement::Describe() const {
  std::string text;
  if (!std::isnan(energy_r_hat)) text = "R-hat of the energy " + Limited(energy_r_hat, energy_limit);
  if (!worst_variable.empty())
    text += fmt::format("{}'{}', the worst variable, {}", text.empty() ? "R-hat of " : ", of ",
                        worst_variable, Limited(variable_r_hat, variable_limit));
  return text;
}

ChainAgreement JudgeChains(const Diagnostics& diagnostics, const Variables& variables) {
  ChainAgreement agreement;
  constexpr int64_t kFewest = 20;  // with less a variable that chains change rarely never does
  const auto limit = [&](int64_t of) { return RHatLimit(diagnostics.draws, diagnostics.chains, of); };
  agreement.energy_r_hat = diagnostics.energy_r_hat;
  agreement.energy_limit = limit(1);
  if (diagnostics.worst_variable < 0) return agreement;
  agreement.worst_variable = variables.Name(diagnostics.worst_variable);
  agreement.variable_r_hat = diagnostics.coordinate_r_hat;
  if (diagnostics.draws >= kFewest) agreement.variable_limit = limit(variables.size());
  return agreement;
}

}  // namespace ort_ed
