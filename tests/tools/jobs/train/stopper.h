#pragma once

#include <cstdint>

#include "tools/jobs/observer.h"

namespace ort_ed {

// Asks to stop after some steps.
class Stopper : public Observer {
 public:
  explicit Stopper(int64_t steps) : steps_(steps) {}
  void OnWork(const Work&) override { --steps_; }
  bool StopRequested() override { return steps_ <= 0; }

 private:
  int64_t steps_;
};

}  // namespace ort_ed
