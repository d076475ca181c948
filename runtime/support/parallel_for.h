#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/support/thread_count.h"

namespace ort_ed {

// Calls body(index) for 0 <= index < count on up to `threads` threads (0: all cores). `work` estimates the
// whole cost in nanoseconds: what is too little to be worth a thread stays on the caller's. Of exceptions the
// one of the smallest index is rethrown, whatever the threads did.
template <typename Body>
void ParallelFor(int threads, int64_t count, double work, const Body& body) {
  constexpr double kWorthAThread = 1e5;
  const int64_t useful =
      std::min<int64_t>({ThreadCount(threads), count, 1 + static_cast<int64_t>(work / kWorthAThread)});
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  int64_t failed = count;
  std::mutex failure_mutex;
  const auto run = [&] {
    int64_t index = 0;
    try {
      while ((index = next.fetch_add(1, std::memory_order_relaxed)) < count) body(index);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (index < failed) failure = std::current_exception();
      failed = std::min(failed, index);
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int64_t helper = 1; helper < useful; ++helper) helpers.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ort_ed
