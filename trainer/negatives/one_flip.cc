// Neighbours by one flip, for losses that compare each row with them: all D, or some that are drawn, with
// weights omega that make the sum over them an unbiased estimate of the sum over all.
//
// Drawn alike: K of them without replacement, omega = D / K. Guided (after Liu et al. 2023): K independent
// ones with probabilities q, omega = 1 / (K q). A neighbour matters to ratio matching by sigmoid(D)^2, where
// D = U(x) - U(x'), and the gradient at x tells D to first order: (2 x_i - 1) dU/dx_i. q is that guess mixed
// with a uniform part, which bounds the weights where the guess is wrong.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr uint32_t kSitesPurpose = 0x53495445;  // "SITE": which variables flip
constexpr double kUniformPart = 0.2;            // of guided draws

struct SiteOptions {
  int64_t sites = 0;
  double validation_epsilon = 0.1;

  static void Describe(Declare<SiteOptions>& declare) {
    declare("sites", &SiteOptions::sites, "[0, 1000000]",
            "variables of a row that flip, one in each neighbour, drawn in every step; 0: all");
    declare("validation_epsilon", &SiteOptions::validation_epsilon, "(0, 1)",
            "validation: energy discrepancy with bits flipped with this probability");
  }
};

class OneFlip : public NegativeSource {
 public:
  using Options = SiteOptions;

  OneFlip(const SiteOptions& options, const RowContext& rows)
      : dimension_(rows.dimension),
        sites_(options.sites > 0 ? options.sites : rows.dimension),
        options_(options),
        validation_(MakeNegatives({"bernoulli", {{"epsilon", options.validation_epsilon}}}, rows)) {
    if (sites_ > dimension_)
      throw OptionError("sites", "must not exceed the " + std::to_string(dimension_) +
                                     " variables of a row, not " + std::to_string(sites_));
  }

  Shape shape(int64_t) const override { return {sites_, sites_ < dimension_}; }
  NegativeSource& validation() override { return *validation_; }
  OptionMap Describe(double) const override { return GetOptions(SchemaOf<SiteOptions>(), &options_); }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    std::vector<uint32_t> order(static_cast<size_t>(dimension_));
    for (int64_t i = 0; i < batch.positives; ++i) {
      std::iota(order.begin(), order.end(), 0u);
      if (sites_ < dimension_) Shuffle(Random(view, i), order);
      Flip(batch, i, order);
      std::ranges::fill(batch.LogWeights(i), static_cast<float>(std::log(double(dimension_) / sites_)));
    }
  }

 protected:
  static RandomStream Random(const StepView& view, int64_t row) {
    return {view.seed, kSitesPurpose, static_cast<uint64_t>(view.step),
            static_cast<uint64_t>(view.first_row + row)};
  }

  // Negative j of the row is the row with variable sites[j] flipped.
  void Flip(ContrastiveBatch& batch, int64_t row, std::span<const uint32_t> sites) const {
    const std::span<const uint8_t> positive = batch.Positive(row);
    std::span<uint8_t> negatives = batch.Negatives(row);
    for (int64_t j = 0; j < sites_; ++j, negatives = negatives.subspan(positive.size())) {
      std::ranges::copy(positive, negatives.begin());
      negatives[sites[j]] ^= 1;
    }
  }

  int64_t dimension() const { return dimension_; }
  int64_t sites() const { return sites_; }

 private:
  // The first sites_ of the order are drawn without replacement, all alike.
  void Shuffle(RandomStream random, std::vector<uint32_t>& order) const {
    for (int64_t j = 0; j < sites_; ++j)
      std::swap(order[j], order[j + random.Below(static_cast<uint32_t>(dimension_ - j))]);
  }

  int64_t dimension_;
  int64_t sites_;
  SiteOptions options_;
  std::unique_ptr<NegativeSource> validation_;
};

class RatioMatchingFlips final : public OneFlip {
 public:
  struct Options {
    SiteOptions sites;
    bool guided = false;

    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::sites);
      declare("guided", &Options::guided, "",
              "variables are drawn where the gradient of the energy says that they matter")
          .When("sites", "[1, inf)");
    }
  };

  RatioMatchingFlips(const Options& options, const RowContext& rows)
      : OneFlip(options.sites, rows), guided_(options.guided) {}

  Shape shape(int64_t requested) const override {
    return {sites(), guided_ || OneFlip::shape(requested).weighted};
  }
  Needs needs() const override {
    return {.energy = guided_,
            .gradient = guided_,
            .of_all = guided_,
            .option = "guided",
            .instead = "draw all alike"};
  }
  OptionMap Describe(double progress) const override {
    OptionMap all = OneFlip::Describe(progress);
    all["guided"] = guided_;
    return all;
  }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    if (!guided_) return OneFlip::Fill(view, batch);
    const std::vector<float> slopes = Slopes(view, batch);
    std::vector<double> cumulative(static_cast<size_t>(dimension()));
    std::vector<uint32_t> drawn(static_cast<size_t>(sites()));
    for (int64_t i = 0; i < batch.positives; ++i) {
      Accumulate(batch.Positive(i), std::span(slopes).subspan(i * dimension(), dimension()), cumulative);
      RandomStream random = Random(view, i);
      const std::span<float> log_weights = batch.LogWeights(i);
      log_weights[0] = 0;
      for (int64_t j = 0; j < sites(); ++j) {
        drawn[j] = DrawSite(random, cumulative);
        log_weights[1 + j] =
            static_cast<float>(-std::log(double(sites()) * Probability(cumulative, drawn[j])));
      }
      Flip(batch, i, drawn);
    }
  }

 private:
  std::vector<float> Slopes(const StepView& view, ContrastiveBatch& batch) const {
    if (view.energy == nullptr)
      throw Error(ErrorCode::kInvalidArgument, "guided draws need the energy of the model as it is now");
    std::vector<float> rows, slopes(static_cast<size_t>(batch.positives * dimension()));
    for (int64_t i = 0; i < batch.positives; ++i)
      rows.insert(rows.end(), batch.Positive(i).begin(), batch.Positive(i).end());
    std::vector<double> energies(static_cast<size_t>(batch.positives));
    view.energy->EnergyAndGradient(rows, energies, slopes);
    return slopes;
  }

  // Sums of the probabilities of the variables up to each.
  static void Accumulate(std::span<const uint8_t> row, std::span<const float> slopes,
                         std::vector<double>& cumulative) {
    double guesses = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const double difference = row[i] ? slopes[i] : -slopes[i];
      const double sigmoid = 1 / (1 + std::exp(-difference));
      guesses += sigmoid * sigmoid;
      cumulative[i] = guesses;
    }
    // Of a model that is about to diverge, or flat to the last digit.
    const bool useful = std::isfinite(guesses) && guesses > 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const double uniform = static_cast<double>(i + 1) / static_cast<double>(row.size());
      cumulative[i] =
          useful ? kUniformPart * uniform + (1 - kUniformPart) * cumulative[i] / guesses : uniform;
    }
  }

  static double Probability(const std::vector<double>& cumulative, uint32_t site) {
    return cumulative[site] - (site > 0 ? cumulative[site - 1] : 0);
  }

  static uint32_t DrawSite(RandomStream& random, const std::vector<double>& cumulative) {
    const auto found = std::ranges::upper_bound(cumulative, random.UniformDouble());
    return static_cast<uint32_t>(std::min(found, cumulative.end() - 1) - cumulative.begin());
  }

  bool guided_;
};

}  // namespace

extern const NegativeKind kRatioMatchingNegatives;
const NegativeKind kRatioMatchingNegatives = SourceKind<RatioMatchingFlips>(
    "ratio-matching", "each variable flips by itself; no sampling", "ratio-matching");

extern const NegativeKind kConcreteScoreNegatives;
const NegativeKind kConcreteScoreNegatives = SourceKind<OneFlip>(
    "concrete-score", "each variable flips by itself; ratios of probabilities", "concrete-score");

}  // namespace ort_ed
