#include "trainer/collective/tree_sum.h"

#include <barrier>
#include <cstring>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

// Processes that are threads, which leave what they exchange in a place that all see.
class Thread final : public Collective {
 public:
  struct Place {
    explicit Place(int threads) : barrier(threads), outgoing(static_cast<size_t>(threads)) {}
    std::barrier<> barrier;
    std::vector<std::vector<std::span<const std::byte>>> outgoing;
  };

  Thread(int rank, int size, Place& place) : rank_(rank), size_(size), place_(place) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void Barrier() override { place_.barrier.arrive_and_wait(); }
  void Broadcast(std::span<std::byte>, int) override { FAIL(); }
  std::vector<std::string> Gather(std::string_view) override { return {}; }
  void Exchange(std::span<const std::span<const std::byte>> outgoing,
                std::span<const std::span<std::byte>> incoming) override {
    place_.outgoing[rank_].assign(outgoing.begin(), outgoing.end());
    Barrier();
    for (int from = 0; from < size_; ++from) {
      ASSERT_EQ(place_.outgoing[from][rank_].size(), incoming[from].size());
      std::ranges::copy(place_.outgoing[from][rank_], incoming[from].begin());
    }
    Barrier();
  }

 private:
  int rank_, size_;
  Place& place_;
};

std::vector<std::vector<float>> Vectors(int64_t shards, size_t size) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 1000);
  std::vector<std::vector<float>> vectors(static_cast<size_t>(shards), std::vector<float>(size));
  for (auto& vector : vectors)
    for (float& value : vector) value = normal(random);
  return vectors;
}

std::vector<std::vector<float>> SumsOf(int processes, const std::vector<std::vector<float>>& vectors) {
  Thread::Place place(processes);
  std::vector<std::vector<float>> sums(static_cast<size_t>(processes), std::vector<float>(vectors[0].size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < processes; ++rank)
    threads.emplace_back([&, rank] {
      Thread thread(rank, processes, place);
      TreeSum(std::ssize(vectors), thread)
          .Sum([&](int64_t shard, std::span<float> to) { std::ranges::copy(vectors[shard], to.begin()); },
               sums[rank]);
    });
  threads.clear();
  return sums;
}

TEST(TreeSum, IsTheSameOnAnyNumberOfProcesses) {
  for (const int64_t shards : {1, 2, 3, 5, 8, 13}) {
    for (const size_t size : {1, 7, 1000}) {
      const auto vectors = Vectors(shards, size);
      std::vector<float> expected(size);
      TreeSum(shards, Alone())
          .Sum([&](int64_t shard, std::span<float> to) { std::ranges::copy(vectors[shard], to.begin()); },
               expected);
      for (int processes = 1; processes <= shards; ++processes)
        for (const auto& sum : SumsOf(processes, vectors))
          EXPECT_EQ(std::memcmp(sum.data(), expected.data(), size * sizeof(float)), 0)
              << shards << " shards, " << processes << " processes, " << size << " values";
    }
  }
}

TEST(TreeSum, AddsPairByPair) {
  const std::vector<std::vector<float>> vectors = {{1e8f}, {1}, {-1e8f}, {1}, {3}};
  std::vector<float> sum(1);
  TreeSum(5, Alone()).Sum([&](int64_t shard, std::span<float> to) { to[0] = vectors[shard][0]; }, sum);
  EXPECT_EQ(sum[0], ((1e8f + 1) + (-1e8f + 1)) + 3);
}

TEST(Shares, AreWholeUnitsThatCoverAll) {
  for (int size = 1; size < 10; ++size)
    for (const int64_t total : {0, 1, 31, 32, 33, 1000}) {
      int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = ShareOf(rank, size, total, 32);
        EXPECT_EQ(share.first, next);
        EXPECT_TRUE(share.count == 0 || share.first % 32 == 0);
        next += share.count;
      }
      EXPECT_EQ(next, total);
    }
}

}  // namespace
}  // namespace ort_ed
