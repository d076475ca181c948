#pragma once

#include <string>

namespace ort_ed {

// A range of numbers as it is written: "[0, 1)", "(0, inf)".
class Interval {
 public:
  explicit Interval(const std::string& text);
  bool Contains(double value) const {
    return (includes_low_ ? value >= low_ : value > low_) &&
           (includes_high_ ? value <= high_ : value < high_);
  }

 private:
  double low_, high_;
  bool includes_low_, includes_high_;
};

}  // namespace ort_ed
