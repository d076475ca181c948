#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/chains.h"

namespace ort_ed {

// The coordinates that are not clamped, chain by chain (one list where all chains share it).
class FreeSites {
 public:
  explicit FreeSites(const Chains& chains)
      : shared_(chains.clamped.empty() || static_cast<int64_t>(chains.clamped.size()) == chains.dimension) {
    for (int64_t chain = 0; chain < (shared_ ? 1 : chains.count); ++chain) {
      for (int64_t site = 0; site < chains.dimension; ++site)
        if (!chains.IsClamped(chain, site)) sites_.push_back(static_cast<int32_t>(site));
      starts_.push_back(static_cast<int64_t>(sites_.size()));
      most_ = std::max(most_, static_cast<int64_t>(of(chain).size()));
    }
  }

  std::span<const int32_t> of(int64_t chain) const {
    if (shared_) chain = 0;
    return {sites_.data() + starts_[chain], sites_.data() + starts_[chain + 1]};
  }
  bool shared() const { return shared_; }
  int64_t most() const { return most_; }  // of any chain

 private:
  bool shared_;
  std::vector<int32_t> sites_;
  std::vector<int64_t> starts_{0};
  int64_t most_ = 0;
};

}  // namespace ort_ed
