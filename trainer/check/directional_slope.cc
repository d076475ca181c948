#include "trainer/check/directional_slope.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ort_ed {

DirectionalSlope::DirectionalSlope(std::function<double(double)> value, double size, double rounding,
                                   bool in_double)
    : value_(std::move(value)), size_(size), rounding_(rounding), in_double_(in_double) {}

SlopeEstimate DirectionalSlope::Slope(const std::function<bool(double)>& close) const {
  const std::vector<double> steps =
      in_double_ ? std::vector<double>{1e-5, 1e-7} : std::vector<double>{1e-1, 1e-2, 1e-3};
  SlopeEstimate best{NAN, INFINITY, steps.front() * size_};
  for (const double step : steps) {
    double low = INFINITY, high = -INFINITY, last = NAN;
    for (const double factor : {1.0, 0.7, 0.5}) {
      last = Difference(factor * step * size_);
      if (in_double_ && close(last)) return {last, 0, step * size_};
      low = std::min(low, last);
      high = std::max(high, last);
    }
    const double uncertainty = high - low + rounding_ / (step * size_);
    if (!(uncertainty >= best.uncertainty)) best = {last, uncertainty, step * size_};
  }
  return best;
}

bool DirectionalSlope::HasKink(double step, double error) const {
  const double middle = value_(0);
  const auto gap = [&](double distance) {
    return std::abs(value_(distance) - 2 * middle + value_(-distance)) / distance;
  };
  const double share = in_double_ ? 1e-2 : 1e-1;
  return std::min(gap(step), gap(step / 4)) > share * error;
}

}  // namespace ort_ed
