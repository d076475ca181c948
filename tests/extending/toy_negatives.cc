// A perturbation with an option of its own: the first `toy_bits` bits are drawn anew.

#include <algorithm>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

class ToyPerturbation final : public Perturbation {
 public:
  struct Options {
    int64_t toy_bits = 2;
    static void Describe(Declare<Options>& declare) {
      declare("toy_bits", &Options::toy_bits, "[1, 64]", "bits drawn anew");
    }
  };

  ToyPerturbation(const Options& options, const RowContext& rows)
      : bits_(std::min(options.toy_bits, rows.dimension)) {}

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    for (; !negatives.empty(); negatives = negatives.subspan(positive.size())) {
      std::ranges::copy(positive, negatives.begin());
      for (int64_t i = 0; i < bits_; ++i) negatives[i] = random.Next32() & 1;
    }
  }

 private:
  int64_t bits_;
};

}  // namespace

extern const NegativeKind kToyNegatives =
    PerturbationKind<ToyPerturbation>("toy", "the first bits are drawn anew");

}  // namespace ort_ed
