#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/chains.h"
#include "ort_ed/error.h"

namespace ort_ed {

// The variables that are not clamped, chain by chain (one list where all chains share it). Of binary
// variables a number is also that of the bit.
class FreeSites {
 public:
  explicit FreeSites(const Chains& chains) : FreeSites(chains, Variables::Binary(chains.dimension)) {}
  // Throws kInvalidArgument where some bits of a variable are clamped and others are not.
  FreeSites(const Chains& chains, const Variables& variables)
      : shared_(chains.clamped.empty() || static_cast<int64_t>(chains.clamped.size()) == chains.dimension) {
    for (int64_t chain = 0; chain < (shared_ ? 1 : chains.count); ++chain) {
      for (int64_t site = 0; site < variables.size(); ++site)
        if (!IsClamped(chains, chain, variables, site)) sites_.push_back(static_cast<int32_t>(site));
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
  static bool IsClamped(const Chains& chains, int64_t chain, const Variables& variables, int64_t site) {
    const int64_t first = variables.first_bit(site);
    const bool clamped = chains.IsClamped(chain, first);
    for (int64_t bit = first + 1; bit < first + variables.bits(site); ++bit)
      if (chains.IsClamped(chain, bit) != clamped)
        throw Error(ErrorCode::kInvalidArgument,
                    "of the bits of '" + variables.Name(site) +
                        "' some are kept and others are not in chain " +
                        std::to_string(chains.first_chain + static_cast<uint64_t>(chain)) +
                        "; keep all of them, or none");
    return clamped;
  }

  bool shared_;
  std::vector<int32_t> sites_;
  std::vector<int64_t> starts_{0};
  int64_t most_ = 0;
};

}  // namespace ort_ed
