// Erasing (an energy discrepancy in the sense of the paper's section 2, not one of its three examples): y
// tells which `block` coordinates were chosen, evenly among all sets of that size, and x without them. The
// recoveries are the 2^block ways to fill the holes, all alike. Exact: all of them, and with w = 0 the loss
// is minus the logarithm of the conditional probability of the erased values given the rest; block = 1 is the
// pseudo-likelihood of Besag. Where variables have more than two states, there are as many ways as the
// product of their states; rows with fewer than others are filled up with rows of weight zero.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

class ErasePerturbation final : public Perturbation {
 public:
  struct Options {
    int64_t block = 1;
    bool exact = false;

    static void Describe(Declare<Options>& declare) {
      // At most a million negatives per row.
      declare("block", &Options::block, "[1, 20]", "variables erased at once");
      declare("exact", &Options::exact, "", "all negatives instead of drawn ones");
    }
  };

  ErasePerturbation(const Options& options, const RowContext& rows)
      : variables_(VariablesOf(rows)), block_(options.block), exact_(options.exact) {
    if (block_ > variables_.size())
      throw OptionError("block", "must be at most the " + std::to_string(variables_.size()) +
                                     " variables of a row, not " + std::to_string(block_));
    CountFillings();
  }

  int64_t NegativesPerRow(int64_t requested) const override { return exact_ ? most_fillings_ : requested; }
  bool Enumerates() const override { return exact_; }
  bool Weighted() const override { return exact_ && !equally_many_; }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float> log_weights) const override {
    const std::vector<uint32_t> erased = DrawVariables(random, static_cast<uint32_t>(variables_.size()));
    if (!variables_.all_binary()) return Fill(random, positive, erased, negatives, log_weights);
    for (uint32_t j = 0; !negatives.empty(); ++j, negatives = negatives.subspan(positive.size())) {
      std::ranges::copy(positive, negatives.begin());
      uint32_t filling = exact_ ? j : random.Next32();
      for (const uint32_t coordinate : erased) {
        negatives[coordinate] = filling & 1;
        filling >>= 1;
      }
    }
  }

 private:
  void CountFillings() {
    std::vector<int64_t> states;
    for (int64_t v = 0; v < variables_.size(); ++v) states.push_back(variables_.states(v));
    std::ranges::sort(states, std::greater<>());
    equally_many_ = states.front() == states.back() || block_ == variables_.size();
    constexpr int64_t kMost = 1 << 20;
    for (int64_t i = 0; i < block_; ++i) {
      most_fillings_ *= states[static_cast<size_t>(i)];
      if (exact_ && most_fillings_ > kMost)
        throw OptionError("block", "must be smaller: the variables with the most states have more than " +
                                       std::to_string(kMost) + " states together");
      most_fillings_ = std::min(most_fillings_, kMost);
    }
  }

  // Of variables with any number of states.
  void Fill(RandomStream& random, std::span<const uint8_t> positive, const std::vector<uint32_t>& erased,
            std::span<uint8_t> negatives, std::span<float> log_weights) const {
    int64_t fillings = 1;
    for (const uint32_t v : erased) fillings *= exact_ ? variables_.states(v) : 1;
    const auto rows = static_cast<int64_t>(negatives.size() / positive.size());
    for (int64_t j = 0; j < rows; ++j, negatives = negatives.subspan(positive.size())) {
      std::ranges::copy(positive, negatives.begin());
      int64_t filling = j;
      for (const uint32_t v : erased) {
        const int64_t states = variables_.states(v);
        if (exact_ && j >= fillings) break;
        variables_.SetState(negatives.data(), v,
                            exact_ ? filling % states : random.Below(static_cast<uint32_t>(states)));
        filling /= states;
      }
    }
    if (log_weights.empty()) return;
    // The loss divides by the number of all negatives.
    const auto used = static_cast<size_t>(1 + fillings);
    std::ranges::fill(log_weights.first(used), std::log(static_cast<float>(rows) / fillings));
    std::ranges::fill(log_weights.subspan(used), kLogOfZero);
  }

  // The beginning of a random permutation.
  std::vector<uint32_t> DrawVariables(RandomStream& random, uint32_t count) const {
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t i = 0; i < block_; ++i) std::swap(order[i], order[i + random.Below(count - i)]);
    order.resize(block_);
    return order;
  }

  Variables variables_;
  int64_t block_;
  bool exact_;
  int64_t most_fillings_ = 1;
  bool equally_many_ = true;
};

}  // namespace

extern const NegativeKind kEraseNegatives;
const NegativeKind kEraseNegatives = PerturbationKind<ErasePerturbation>(
    "erase", "some variables are erased and guessed; exact: all guesses, a block pseudo-likelihood",
    RowKind::kAny);

}  // namespace ort_ed
