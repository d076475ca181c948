// Erasing (an energy discrepancy in the sense of the paper's section 2, not one of its three examples): y
// tells which `block` coordinates were chosen, evenly among all sets of that size, and x without them. The
// recoveries are the 2^block ways to fill the holes, all alike. Exact: all of them, and with w = 0 the loss
// is minus the logarithm of the conditional probability of the erased values given the rest; block = 1 is the
// pseudo-likelihood of Besag.

#include <algorithm>
#include <numeric>

#include "ort_ed/error.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

constexpr int64_t kLargestBlock = 20;  // a million negatives a row

class ErasePerturbation : public Perturbation {
 public:
  ErasePerturbation(int64_t block, bool exact) : block_(block), exact_(exact) {}

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

std::unique_ptr<Perturbation> Make(const PerturbationOptions& options) {
  const int64_t largest = std::min(kLargestBlock, options.dimension);
  if (options.block < 1 || options.block > largest) {
    throw Error(ErrorCode::kInvalidArgument, "block of the erase perturbation must be from 1 to " +
                                                 std::to_string(largest) + ", not " +
                                                 std::to_string(options.block));
  }
  return std::make_unique<ErasePerturbation>(options.block, options.exact);
}

}  // namespace

extern const PerturbationKind kErasePerturbation;
const PerturbationKind kErasePerturbation = {
    "erase", "some bits are erased and guessed; exact: all guesses, a block pseudo-likelihood", true, &Make};

}  // namespace ort_ed
