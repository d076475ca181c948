#include "runtime/support/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "ort_ed/error.h"
#include "runtime/support/low_memory.h"

namespace ort_ed {
namespace {

// hardware_concurrency() counts the cores of the machine, also where taskset or a container allows fewer.
int CountAllowedCores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int CountCores() {
  const int allowed = CountAllowedCores();
  std::FILE* const file = std::fopen("/sys/fs/cgroup/cpu.max", "r");
  if (file == nullptr) return allowed;
  double quota = 0, period = 0;
  const int numbers = std::fscanf(file, "%lf %lf", &quota, &period);
  std::fclose(file);
  if (numbers != 2 || period <= 0) return allowed;  // "max"
  return std::clamp(static_cast<int>(std::ceil(quota / period)), 1, allowed);
}

// Threads that the task which this thread is in may use for what it starts itself; 0: all.
thread_local int threads_of_task = 0;

int ThreadsFor(int requested) {
  const int threads = ThreadCount(requested);
  return threads_of_task > 0 ? std::min(threads, threads_of_task) : threads;
}

class TaskThreads {
 public:
  explicit TaskThreads(int threads) : before_(std::exchange(threads_of_task, threads)) {}
  ~TaskThreads() { threads_of_task = before_; }

 private:
  int before_;
};

// Up to `count`: where there is no memory for more, those that are there do the work.
template <typename Body>
void StartThreads(std::vector<std::jthread>& threads, int64_t count, const Body& body) {
  try {
    while (std::ssize(threads) < count) threads.emplace_back(body);
  } catch (const std::exception& error) {
    if (!IsLowMemory(error)) throw;
  }
}

}  // namespace

int ThreadCount(int requested) {
  if (requested < 0) throw Error(ErrorCode::kInvalidArgument, "the number of threads must not be negative");
  static const int cores = CountCores();
  return requested > 0 ? requested : cores;
}

void parallel_detail::Run(int threads, int64_t count, double work,
                          void (*call)(const void* body, int64_t index), const void* body) {
  constexpr double kWorthAThread = 1e5;
  const int available = ThreadsFor(threads);
  const int64_t useful =
      std::min<int64_t>({available, count, 1 + static_cast<int64_t>(work / kWorthAThread)});
  const int of_each = std::max(1, available / static_cast<int>(std::max<int64_t>(useful, 1)));
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  int64_t failed = count;
  std::mutex failure_mutex;
  const auto run = [&] {
    const TaskThreads share(of_each);
    int64_t index = 0;
    try {
      while ((index = next.fetch_add(1, std::memory_order_relaxed)) < count) call(body, index);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (index < failed) failure = std::current_exception();
      failed = std::min(failed, index);
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    StartThreads(helpers, useful - 1, run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ort_ed
