#pragma once

#include <cstdint>

namespace ort_ed {

// Threads for a request of `requested`; 0 is all the cores that this process may use, by affinity and by the
// cgroup's quota: a container on a large machine often has few.
int ThreadCount(int requested);

namespace parallel_detail {

// Compiled once for all bodies.
void Run(int threads, int64_t count, double work, void (*call)(const void* body, int64_t index),
         const void* body);

}  // namespace parallel_detail

// Calls body(index) for 0 <= index < count on up to `threads` threads (0: all cores). `work` estimates the
// whole cost in nanoseconds: what is too little to be worth a thread stays on the caller's. Loops inside
// bodies share the threads among them. Of exceptions the
// one of the smallest index is rethrown, whatever the threads did.
template <typename Body>
void ParallelFor(int threads, int64_t count, double work, const Body& body) {
  const auto call = [](const void* erased, int64_t index) { (*static_cast<const Body*>(erased))(index); };
  parallel_detail::Run(threads, count, work, call, &body);
}

}  // namespace ort_ed
