// Grid neighbourhood (the paper, section C.3): y is x with one bit flipped, the recoveries are y with one bit
// flipped. All states have D neighbours, so no weights. Sampled: M independent recoveries of y. Exact: all D
// of them, so that the contrastive potential of y has no Monte-Carlo error and, with w = 0, the loss is an
// unbiased estimate of the energy discrepancy; y itself is still drawn, since averaging over it as well costs
// another factor of D that is better spent on more data.

#include <algorithm>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

class GridPerturbation final : public Perturbation {
 public:
  struct Options {
    bool exact = false;
    static void Describe(Declare<Options>& declare) {
      declare("exact", &Options::exact, "", "all negatives instead of drawn ones");
    }
  };

  GridPerturbation(const Options& options, const RowContext& rows)
      : dimension_(rows.dimension), exact_(options.exact) {}

  int64_t NegativesPerRow(int64_t requested) const override { return exact_ ? dimension_ : requested; }

  bool Enumerates() const override { return exact_; }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    const size_t dimension = positive.size();
    const auto coordinates = static_cast<uint32_t>(dimension);
    const uint32_t first_flip = random.Below(coordinates);
    for (uint32_t j = 0; !negatives.empty(); ++j, negatives = negatives.subspan(dimension)) {
      std::copy(positive.begin(), positive.end(), negatives.begin());
      negatives[first_flip] ^= 1;
      negatives[exact_ ? j : random.Below(coordinates)] ^= 1;
    }
  }

 private:
  int64_t dimension_;
  bool exact_;
};

}  // namespace

extern const NegativeKind kGridNegatives;
const NegativeKind kGridNegatives =
    PerturbationKind<GridPerturbation>("grid", "one bit flips; exact: all recoveries are enumerated");

}  // namespace ort_ed
