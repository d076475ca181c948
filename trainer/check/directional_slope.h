#pragma once

#include <functional>

namespace ort_ed {

struct SlopeEstimate {
  double value, uncertainty, step;
};

// A function of one number, computed with rounding, and its slope at 0 by differences.
class DirectionalSlope {
 public:
  // `size`: steps are taken as small shares of it; `rounding`: of a value; `in_double`: whether it is
  // computed in double precision throughout.
  DirectionalSlope(std::function<double(double)> value, double size, double rounding, bool in_double);

  // A central difference that is `close` enough at once; else, of differences with several steps, each with
  // two neighbours, the one that changes least among the three.
  SlopeEstimate Slope(const std::function<bool(double)>& close) const;

  // Whether the slopes to both sides differ by a share of the error that the curvature and rounding cannot
  // explain: a gradient is then that of one side, or of one side for this summand and the other for that,
  // and no central difference need agree.
  bool HasKink(double step, double error) const;

 private:
  double Difference(double step) const { return (value_(step) - value_(-step)) / (2 * step); }

  std::function<double(double)> value_;
  double size_, rounding_;
  bool in_double_;
};

}  // namespace ort_ed
