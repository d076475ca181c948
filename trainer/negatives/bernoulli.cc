// Bernoulli noise (the paper, section 2.1): y = x xor noise, x'_j = y xor noise_j, every bit of the noise one
// with probability epsilon. q is symmetric, so the recovery is the perturbation itself. Several levels of
// epsilon are a mixture: small ones tell the details around the data, large ones how much mass is where.

#include <algorithm>
#include <cstring>

#include "ort_ed/error.h"
#include "trainer/negatives/mixture.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

// Independent Bernoulli(epsilon) bits, 64 at a time and without rounding. A bit is one if a uniform number U
// in [0, 1) is below epsilon: the binary digits of U are drawn one by one, for 64 numbers U at once, and
// compared with those of epsilon; a lane is decided at the first digit that differs. Half of the undecided
// lanes are decided by each digit, so 64 lanes take about 7 random words whatever epsilon is. A double has
// finitely many digits, and U equal to all of them is not below epsilon: the distribution is exact.
class BernoulliBits {
 public:
  explicit BernoulliBits(double epsilon) {
    for (double rest = epsilon; rest > 0; rest -= digits_.back()) {
      rest *= 2;
      digits_.push_back(rest >= 1);
    }
  }

  uint64_t Next(RandomStream& random) const {
    uint64_t ones = 0;
    uint64_t undecided = ~uint64_t{0};
    for (uint8_t digit : digits_) {
      const uint64_t drawn = random.Next64();
      if (digit) ones |= undecided & ~drawn;
      undecided &= digit ? drawn : ~drawn;
      if (undecided == 0) break;
    }
    return ones;
  }

 private:
  std::vector<uint8_t> digits_;  // of epsilon after the binary point
};

class BernoulliPerturbation : public Perturbation {
 public:
  explicit BernoulliPerturbation(double epsilon) : bits_(epsilon) {}

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    const size_t dimension = positive.size();
    std::vector<uint8_t> y(dimension);
    FillWithNoise(random, y);
    FlipBy(positive, y);
    FillWithNoise(random, negatives);
    for (; !negatives.empty(); negatives = negatives.subspan(dimension)) {
      FlipBy(y, negatives.first(dimension));
    }
  }

 private:
  // The bits are independent, so which of them goes to which byte does not matter: byte b of the k-th word
  // takes bit 8 b + k.
  void FillWithNoise(RandomStream& random, std::span<uint8_t> bytes) const {
    while (!bytes.empty()) {
      const uint64_t bits = bits_.Next(random);
      uint64_t spread[8];
      for (int k = 0; k < 8; ++k) spread[k] = bits >> k & 0x0101010101010101u;
      const size_t count = std::min(bytes.size(), sizeof spread);
      std::memcpy(bytes.data(), spread, count);
      bytes = bytes.subspan(count);
    }
  }

  static void FlipBy(std::span<const uint8_t> flips, std::span<uint8_t> bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] ^= flips[i];
  }

  BernoulliBits bits_;
};

std::unique_ptr<Perturbation> Make(const PerturbationOptions& options) {
  if (options.epsilon.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the bernoulli perturbation needs an epsilon");
  }
  std::vector<std::unique_ptr<Perturbation>> levels;
  for (const double epsilon : options.epsilon) {
    if (!(epsilon > 0 && epsilon < 1)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "epsilon of the bernoulli perturbation must lie strictly between 0 and 1, not be " +
                      std::to_string(epsilon));
    }
    levels.push_back(std::make_unique<BernoulliPerturbation>(epsilon));
  }
  return MakeMixture(std::move(levels));
}

}  // namespace

extern const PerturbationKind kBernoulliPerturbation;
const PerturbationKind kBernoulliPerturbation = {"bernoulli", "every bit flips with probability epsilon",
                                                 false, &Make};

}  // namespace ort_ed
