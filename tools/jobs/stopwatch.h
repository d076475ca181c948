#pragma once

#include <chrono>

namespace ort_ed {

class Stopwatch {
 public:
  double Seconds() const { return earlier_ + std::chrono::duration<double>(Clock::now() - start_).count(); }
  void Restart() { *this = Stopwatch(); }
  // Time that others measured before.
  void Add(double seconds) { earlier_ += seconds; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  double earlier_ = 0;
};

}  // namespace ort_ed
