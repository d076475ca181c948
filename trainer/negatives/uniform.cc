// Uniform noise over variables (arXiv 2412.01019): every variable is redrawn, evenly among all of its states,
// with a probability; the recovery is the same, since q is symmetric. Binary variables are those of two
// states. Several levels are a mixture: rows with one redrawn variable tell the details around the data, rows
// with many how much mass is where.

#include <algorithm>
#include <cmath>

#include "trainer/negatives/mixture.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

// One level of noise.
class UniformNoise final : public Perturbation {
 public:
  UniformNoise(const Variables& variables, double probability)
      : variables_(variables), log_keep_(std::log1p(-probability)) {}

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    std::vector<uint8_t> y(positive.begin(), positive.end());
    Redraw(random, y);
    for (; !negatives.empty(); negatives = negatives.subspan(y.size())) {
      std::ranges::copy(y, negatives.begin());
      Redraw(random, negatives.first(y.size()));
    }
  }

 private:
  void Redraw(RandomStream& random, std::span<uint8_t> row) const {
    for (int64_t v = Skip(random); v < variables_.size(); v += 1 + Skip(random))
      variables_.SetState(row.data(), v, random.Below(static_cast<uint32_t>(variables_.states(v))));
  }

  // How many variables in a row are kept: geometric, so that it takes one number for each that is not.
  int64_t Skip(RandomStream& random) const {
    if (std::isinf(log_keep_)) return 0;
    const double skipped = std::floor(std::log1p(-random.UniformDouble()) / log_keep_);
    return skipped < static_cast<double>(variables_.size()) ? static_cast<int64_t>(skipped)
                                                            : variables_.size();
  }

  Variables variables_;
  double log_keep_;
};

class UniformPerturbation final : public Perturbation {
 public:
  struct Options {
    std::vector<double> redraws = {1, 2, 6};

    static void Describe(Declare<Options>& declare) {
      declare("redraws", &Options::redraws, "(0, inf)",
              "variables redrawn in each row on average; of several each row draws one");
    }
  };

  UniformPerturbation(const Options& options, const RowContext& rows) : redraws_(options.redraws) {
    if (redraws_.empty()) throw OptionError("redraws", "must be a number or several");
    const Variables variables = VariablesOf(rows);
    std::vector<std::unique_ptr<Perturbation>> levels;
    for (const double redraws : redraws_)
      levels.push_back(std::make_unique<UniformNoise>(
          variables, std::min(1.0, redraws / static_cast<double>(variables.size()))));
    noise_ = MakeMixture(std::move(levels));
  }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float> log_weights) const override {
    noise_->Perturb(random, positive, negatives, log_weights);
  }

  OptionMap Describe(double) const override { return {{"redraws", redraws_}}; }

 private:
  std::vector<double> redraws_;
  std::unique_ptr<Perturbation> noise_;
};

}  // namespace

extern const NegativeKind kUniformNegatives;
const NegativeKind kUniformNegatives = PerturbationKind<UniformPerturbation>(
    "uniform", "some variables are redrawn among their states", RowKind::kAny);

}  // namespace ort_ed
