#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/support/collective.h"

namespace ort_ed {

// Sums vectors of `shards` shards over the processes that compute them, pair by pair in a tree that depends
// on the number of shards alone: the sum is the same, to the last bit, however many processes there are. Each
// process adds up a part of the vector and sends it to the others, so that traffic does not grow with their
// number.
class TreeSum {
 public:
  // `shards` at least as many as there are processes.
  TreeSum(int64_t shards, Collective& processes) : shards_(shards), processes_(processes) {}

  // Computes the vector of one shard.
  using Compute = std::function<void(int64_t shard, std::span<float> vector)>;

  // Calls `compute` for the shards of this process, in ascending order. `total` is the same in all processes
  // afterwards.
  void Sum(const Compute& compute, std::span<float> total);

 private:
  // Shards first, ..., end - 1: a branch of the tree.
  struct Branch {
    int64_t first = 0;
    int64_t end = 0;
    int64_t middle() const;
  };

  Branch OwnShards(int rank) const;
  // The largest branches that lie within the shards of a process.
  std::vector<Branch> BranchesOf(int rank) const;
  void Collect(const Branch& branch, const Branch& shards, std::vector<Branch>& found) const;
  void SumBranch(const Branch& branch, const Compute& compute, std::span<float> sum);
  // Of parts of vectors that lie in the order of their branches.
  void SumParts(const Branch& branch, const std::vector<Branch>& branches,
                std::span<const float* const> parts, std::span<float> sum) const;
  void Exchange(const std::vector<std::vector<float>>& sums, std::span<float> total);

  int64_t shards_;
  Collective& processes_;
};

}  // namespace ort_ed
