#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "ort_ed/error.h"

namespace ort_ed {

// The cores that this process may use, by affinity and by the cgroup's quota: a container on a large machine
// often has few.
inline int AvailableCores() {
  static const int cores = [] {
    const int allowed = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0, period = 0;
    if (!(file >> quota >> period) || period <= 0) return allowed;  // absent, or "max"
    return std::clamp(static_cast<int>(std::ceil(quota / period)), 1, allowed);
  }();
  return cores;
}

// Threads for a request of `requested`; 0 is all the cores that there are.
inline int ThreadCount(int requested) {
  if (requested < 0) throw Error(ErrorCode::kInvalidArgument, "the number of threads must not be negative");
  return requested > 0 ? requested : AvailableCores();
}

}  // namespace ort_ed
