#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ort_ed/chains.h"
#include "sampler/base/lanes.h"

namespace ort_ed {

inline int64_t CountChainBlocks(const Chains& chains) { return (chains.count + kLanes - 1) / kLanes; }

// Up to kLanes chains side by side. Lanes beyond the last chain are 0.
class ChainBlock {
 public:
  ChainBlock(const Chains& chains, int64_t block)
      : first_(block * kLanes), count_(std::min(kLanes, chains.count - first_)), x_(chains.dimension) {
    for (int64_t lane = 0; lane < count_; ++lane)
      for (int64_t i = 0; i < chains.dimension; ++i) x_[i].lane[lane] = chains.state(chain(lane))[i];
  }

  void Store(Chains& chains) const {
    for (int64_t lane = 0; lane < count_; ++lane)
      for (int64_t i = 0; i < chains.dimension; ++i) chains.state(chain(lane))[i] = x_[i].lane[lane];
  }

  int64_t lanes() const { return count_; }
  int64_t chain(int64_t lane) const { return first_ + lane; }
  std::vector<Lanes>& x() { return x_; }

 private:
  int64_t first_, count_;
  std::vector<Lanes> x_;  // of each variable
};

}  // namespace ort_ed
