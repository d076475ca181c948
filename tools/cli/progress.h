#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ort_ed {

// What stands on a line of progress, from left to right; `fraction` is the bar behind `what`.
struct ProgressParts {
  std::string what;
  std::optional<double> fraction = {};
  std::string count, rate, left = {}, details;
};
// The line for a terminal: where it is narrow the bar is shorter or left out, then the rate, so that the
// details are seen.
std::string FitToWidth(const ProgressParts& parts, size_t width);

// Progress on stderr: a bar with rate and ETA on a terminal, a plain log line every ten seconds in a pipe.
class Progress {
 public:
  // total 0: unknown. `unit` is what is counted: "rows", "steps".
  Progress(std::string what, std::string unit, int64_t total);
  ~Progress();

  // `details` stands behind the rate, e.g. "loss 0.31".
  void Update(int64_t done, const std::string& details = "");
  // Clears the bar, so that what is printed next starts on a clean line.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  ProgressParts Describe(int64_t done, const std::string& details) const;

  std::string what_;
  std::string unit_;
  int64_t total_;
  int64_t first_ = -1;  // of the first update: a resumed run does not start at 0
  bool terminal_;
  bool bar_shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

// The line as far as it fits on a terminal without touching its last column, where some begin a new one. A
// character of UTF-8 takes one column.
std::string CutToWidth(const std::string& line, size_t width);

// At most a few digits and no exponent: "0.125", "3220", "51.3k", "2.0M".
std::string RateText(double per_second);

}  // namespace ort_ed
