// Erasing (an energy discrepancy in the sense of the paper's section 2, not one of its three examples): y
// tells which `block` coordinates were chosen, evenly among all sets of that size, and x without them. The
// recoveries are the 2^block ways to fill the holes, all alike. Exact: all of them, and with w = 0 the loss
// is minus the logarithm of the conditional probability of the erased values given the rest; block = 1 is the
// pseudo-likelihood of Besag.

#include <algorithm>
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
      : block_(options.block), exact_(options.exact) {
    if (block_ > rows.dimension)
      throw OptionError("block", "must be at most the " + std::to_string(rows.dimension) +
                                     " variables of a row, not " + std::to_string(block_));
  }

  int64_t NegativesPerRow(int64_t requested) const override {
    return exact_ ? int64_t{1} << block_ : requested;
  }
  bool Enumerates() const override { return exact_; }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    const std::vector<uint32_t> erased = DrawCoordinates(random, static_cast<uint32_t>(positive.size()));
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
  // The beginning of a random permutation.
  std::vector<uint32_t> DrawCoordinates(RandomStream& random, uint32_t dimension) const {
    std::vector<uint32_t> order(dimension);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t i = 0; i < block_; ++i) std::swap(order[i], order[i + random.Below(dimension - i)]);
    order.resize(block_);
    return order;
  }

  int64_t block_;
  bool exact_;
};

}  // namespace

extern const NegativeKind kEraseNegatives;
const NegativeKind kEraseNegatives = PerturbationKind<ErasePerturbation>(
    "erase", "some bits are erased and guessed; exact: all guesses, a block pseudo-likelihood");

}  // namespace ort_ed
