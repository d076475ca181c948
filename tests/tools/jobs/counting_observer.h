#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tools/jobs/observer.h"

namespace ort_ed {

// Keeps what a job tells, and asks it to stop after a number of looks.
class CountingObserver : public Observer {
 public:
  explicit CountingObserver(int64_t stop_after = std::numeric_limits<int64_t>::max())
      : stop_after_(stop_after) {}

  void OnWork(const Work& work) override {
    if (phases.empty() || phases.back() != work.what) phases.push_back(work.what);
  }
  void OnNotice(const std::string& text) override { notices.push_back(text); }
  void OnWarning(const std::string& text) override { warnings.push_back(text); }
  bool StopRequested() override { return ++looks > stop_after_; }

  std::vector<std::string> phases, notices, warnings;
  int64_t looks = 0;

 private:
  int64_t stop_after_;
};

}  // namespace ort_ed
