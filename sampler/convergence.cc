// Effective sample sizes and R-hat of one quantity, as Vehtari, Gelman, Simpson, Carpenter and Buerkner
// (2021) define them and ArviZ computes them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ort_ed/diagnostics.h"

namespace ort_ed {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The halves of all chains, one after the other; a middle draw of an odd number is left out. Empty where a
// half would have fewer than two draws, and where a value is not finite.
struct Halves {
  std::vector<double> values;
  int64_t count = 0;
  int64_t length = 0;
};

Halves Split(std::span<const double> trace, int64_t chains) {
  const int64_t whole = chains > 0 ? std::ssize(trace) / chains : 0;
  Halves halves{.values = {}, .count = 2 * chains, .length = whole / 2};
  const auto finite = [](double value) { return std::isfinite(value); };
  if (halves.length < 2 || !std::ranges::all_of(trace, finite)) return {};
  halves.values.reserve(halves.count * halves.length);
  for (int64_t half = 0; half < halves.count; ++half) {
    const double* begin = trace.data() + half / 2 * whole + (half % 2 == 0 ? 0 : whole - halves.length);
    halves.values.insert(halves.values.end(), begin, begin + halves.length);
  }
  return halves;
}

bool IsConstant(std::span<const double> values) {
  const auto [least, most] = std::ranges::minmax_element(values);
  return *most - *least < 1e-15;
}

// What both figures are made of.
class Moments {
 public:
  explicit Moments(Halves halves) : halves_(std::move(halves)) {
    std::vector<double> means;
    const auto length = static_cast<double>(halves_.length), count = static_cast<double>(halves_.count);
    for (int64_t half = 0; half < halves_.count; ++half) {
      double* x = halves_.values.data() + half * halves_.length;
      means.push_back(std::accumulate(x, x + halves_.length, 0.0) / length);
      for (int64_t t = 0; t < halves_.length; ++t) x[t] -= means.back();
    }
    within_ = Autocovariance(0) * length / (length - 1);
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
    for (const double m : means) between_ += (m - mean) * (m - mean) / (count - 1);
  }

  double draws() const { return static_cast<double>(halves_.count * halves_.length); }
  int64_t length() const { return halves_.length; }
  double within() const { return within_; }  // mean variance of a half
  // Overestimates the variance of the quantity until the chains have mixed.
  double Variance() const {
    const auto length = static_cast<double>(halves_.length);
    return within_ * (length - 1) / length + between_;
  }
  double Correlation(int64_t lag) const { return 1 - (within_ - Autocovariance(lag)) / Variance(); }

 private:
  // Mean over the halves.
  double Autocovariance(int64_t lag) const {
    double sum = 0;
    for (int64_t half = 0; half < halves_.count; ++half) {
      const double* x = halves_.values.data() + half * halves_.length;
      sum += std::inner_product(x, x + halves_.length - lag, x + lag, 0.0);
    }
    return sum / static_cast<double>(halves_.count * halves_.length);
  }

  Halves halves_;  // centred
  double within_ = 0;
  double between_ = 0;
};

// Autocorrelations summed over pairs of lags (0, 1), (2, 3), ... while the sums of pairs stay positive, each
// counting for no more than the one before (Geyer 1992); of the pair that ends it the first, if positive.
double AutocorrelationTime(const Moments& moments) {
  double even = 1, odd = moments.Correlation(1), smallest = even + odd, sum = 0, rest = 0;
  for (int64_t lag = 2;; lag += 2) {
    const bool last = lag + 1 >= moments.length() - 1 || !(even + odd > 0);
    if (last) {
      rest = even > 0 || even + odd >= 0 ? even : 0;
      break;
    }
    smallest = std::min(smallest, even + odd);
    sum += smallest;
    even = moments.Correlation(lag);
    odd = moments.Correlation(lag + 1);
  }
  return 2 * sum - 1 + rest;
}

double SizeOf(Halves halves) {
  if (halves.length < 2) return kUnknown;
  const Moments moments(std::move(halves));
  // Antithetic chains may be worth more than their draws, but not by any factor.
  return moments.draws() / std::max(AutocorrelationTime(moments), 1 / std::log10(moments.draws()));
}

// Each by itself.
bool AreConstant(const Halves& halves) {
  for (int64_t half = 0; half < halves.count; ++half)
    if (!IsConstant(std::span(halves.values).subspan(half * halves.length, halves.length))) return false;
  return true;
}

double RHatOf(Halves halves) {
  if (halves.length < 2 || IsConstant(halves.values)) return kUnknown;
  if (AreConstant(halves)) return std::numeric_limits<double>::infinity();  // rounding would hide it
  const Moments moments(std::move(halves));
  return std::sqrt(moments.Variance() / moments.within());
}

// Acklam's approximation, and one step of Halley's method: to the last digits.
double NormalQuantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  if (p > 0.5) return -NormalQuantile(1 - p);
  double x;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
  const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
  return x - step / (1 + x * step / 2);
}

// Each value by the normal quantile of its rank among all; equal values have the mean of their ranks.
Halves RankNormalised(Halves halves) {
  std::vector<int64_t> order(halves.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return halves.values[i]; });
  std::vector<double> scores(order.size());
  for (size_t first = 0, next; first < order.size(); first = next) {
    for (next = first; next < order.size() && halves.values[order[next]] == halves.values[order[first]];)
      ++next;
    const double rank = (static_cast<double>(first + next) + 1) / 2;
    const double score = NormalQuantile((rank - 0.375) / (static_cast<double>(order.size()) + 0.25));
    for (size_t i = first; i < next; ++i) scores[order[i]] = score;
  }
  halves.values = std::move(scores);
  return halves;
}

double Median(std::vector<double> values) {
  const size_t half = values.size() / 2;  // of an even number of values
  std::ranges::sort(values);
  return (values[half - 1] + values[half]) / 2;
}

Halves Folded(Halves halves) {
  const double median = Median(halves.values);
  for (double& value : halves.values) value = std::abs(value - median);
  return halves;
}

// With linear interpolation between order statistics.
double Quantile(std::span<const double> sorted, double p) {
  const auto n = static_cast<double>(sorted.size());
  const double place = n * p + (1 - p), whole = std::floor(std::clamp(place, 1.0, n - 1));
  const double share = std::clamp(place - whole, 0.0, 1.0);
  const auto k = static_cast<size_t>(whole);
  return (1 - share) * sorted[k - 1] + share * sorted[k];
}

}  // namespace

double EffectiveSampleSize(std::span<const double> trace, int64_t chains) {
  Halves halves = Split(trace, chains);
  return halves.length < 2 || IsConstant(halves.values) ? kUnknown : SizeOf(std::move(halves));
}

double BulkEffectiveSampleSize(std::span<const double> trace, int64_t chains) {
  Halves halves = Split(trace, chains);
  if (halves.length < 2 || IsConstant(halves.values)) return kUnknown;
  return SizeOf(RankNormalised(std::move(halves)));
}

double TailEffectiveSampleSize(std::span<const double> trace, int64_t chains) {
  const Halves halves = Split(trace, chains);
  if (halves.length < 2 || IsConstant(halves.values)) return kUnknown;
  std::vector<double> sorted(trace.begin(), trace.end());
  std::ranges::sort(sorted);
  double smallest = std::numeric_limits<double>::infinity();
  for (const double p : {0.05, 0.95}) {
    Halves below = halves;
    for (double& value : below.values) value = value <= Quantile(sorted, p) ? 1 : 0;
    // That nothing lies beyond says nothing against the chains.
    const bool constant = IsConstant(below.values);
    smallest = std::min(smallest, constant ? static_cast<double>(below.values.size()) : SizeOf(below));
  }
  return smallest;
}

double SplitRHat(std::span<const double> trace, int64_t chains) { return RHatOf(Split(trace, chains)); }

double RankRHat(std::span<const double> trace, int64_t chains) {
  const Halves halves = Split(trace, chains);
  if (halves.length < 2) return kUnknown;
  const double bulk = RHatOf(RankNormalised(halves)), tail = RHatOf(RankNormalised(Folded(halves)));
  return tail > bulk ? tail : bulk;  // the tail may be constant
}

}  // namespace ort_ed
