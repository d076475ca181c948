// Bernoulli noise (the paper, section 2.1): y = x xor noise, x'_j = y xor noise_j, every bit of the noise one
// with probability epsilon. q is symmetric, so the recovery is the perturbation itself. Several levels of
// epsilon are a mixture: small ones tell the details around the data, large ones how much mass is where.

#include <algorithm>
#include <cmath>
#include <cstring>

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

// One level of noise.
class BernoulliNoise final : public Perturbation {
 public:
  explicit BernoulliNoise(double epsilon) : bits_(epsilon) {}

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

class BernoulliPerturbation final : public Perturbation {
 public:
  struct Options {
    std::vector<double> epsilon = {0.1};
    std::vector<double> epsilon_end;

    static void Describe(Declare<Options>& declare) {
      declare("epsilon", &Options::epsilon, "(0, 1)",
              "probability that a bit flips; of several each row draws one")
          .Default("0.1; of more than 32 variables about 1.5 or 6 of a row");
      declare("epsilon_end", &Options::epsilon_end, "(0, 1)",
              "what epsilon becomes until the last step, by equal factors")
          .Default("as epsilon");
    }
  };

  BernoulliPerturbation(Options options, const RowContext&) : options_(std::move(options)) {
    if (options_.epsilon.empty()) throw OptionError("epsilon", "must be a number or several");
    if (!options_.epsilon_end.empty() && options_.epsilon_end.size() != options_.epsilon.size())
      throw OptionError("epsilon_end", "must have one value for each of epsilon, which has " +
                                           std::to_string(options_.epsilon.size()));
    MakeNoise(1);
  }

  void SetProgress(double progress) override {
    if (!options_.epsilon_end.empty() && progress != progress_) MakeNoise(progress);
  }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float> log_weights) const override {
    noise_->Perturb(random, positive, negatives, log_weights);
  }

  OptionMap Describe(double progress) const override { return {{"epsilon", Levels(progress)}}; }

 private:
  std::vector<double> Levels(double progress) const {
    std::vector<double> levels = options_.epsilon;
    if (options_.epsilon_end.empty()) return levels;
    for (size_t i = 0; i < levels.size(); ++i)
      levels[i] *= std::pow(options_.epsilon_end[i] / options_.epsilon[i], progress);
    return levels;
  }

  void MakeNoise(double progress) {
    std::vector<std::unique_ptr<Perturbation>> levels;
    for (const double epsilon : Levels(progress)) levels.push_back(std::make_unique<BernoulliNoise>(epsilon));
    noise_ = MakeMixture(std::move(levels));
    progress_ = progress;
  }

  Options options_;
  std::unique_ptr<Perturbation> noise_;
  double progress_ = 1;
};

}  // namespace

extern const NegativeKind kBernoulliNegatives;
const NegativeKind kBernoulliNegatives =
    PerturbationKind<BernoulliPerturbation>("bernoulli", "every bit flips with probability epsilon");

}  // namespace ort_ed
