#include "runtime/support/parallel_for.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ort_ed {
namespace {

constexpr double kMuchWork = 1e12;

// The largest number of threads that were inside bodies at once. On a busy machine they wait for each other.
class Inside {
 public:
  explicit Inside(int expected) : expected_(expected) {}

  void operator()() {
    const int now = ++count_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) continue;
    const auto pause = std::chrono::milliseconds(2);
    for (int waited = 0; most_ < expected_ && waited < 500; ++waited) std::this_thread::sleep_for(pause);
    std::this_thread::sleep_for(pause);  // one more would come in now
    --count_;
  }
  int most() const { return most_; }

 private:
  int expected_;
  std::atomic<int> count_{0}, most_{0};
};

TEST(ParallelFor, VisitsEachIndexOnce) {
  std::vector<std::atomic<int>> visits(1000);
  ParallelFor(4, 1000, kMuchWork, [&](int64_t index) { ++visits[index]; });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, LittleWorkStaysOnTheCallersThread) {
  ParallelFor(4, 100, 10, [caller = std::this_thread::get_id()](int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(ParallelFor, LoopsInsideBodiesShareTheThreads) {
  for (const int64_t bodies : {1, 2, 8}) {
    Inside inside(4);
    ParallelFor(4, bodies, kMuchWork,
                [&](int64_t) { ParallelFor(4, 16, kMuchWork, [&](int64_t) { inside(); }); });
    EXPECT_EQ(inside.most(), 4) << bodies;
  }
}

TEST(ParallelFor, ALoopAfterwardsHasAllThreadsAgain) {
  ParallelFor(4, 8, kMuchWork, [](int64_t) {});
  Inside inside(4);
  ParallelFor(4, 16, kMuchWork, [&](int64_t) { inside(); });
  EXPECT_EQ(inside.most(), 4);
}

TEST(ParallelFor, RethrowsTheExceptionOfTheSmallestIndex) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      ParallelFor(4, 50, kMuchWork, [](int64_t index) {
        if (index % 7 == 3) throw index;
      });
      FAIL() << "nothing was thrown";
    } catch (int64_t index) {
      EXPECT_EQ(index, 3);
    }
  }
}

}  // namespace
}  // namespace ort_ed
