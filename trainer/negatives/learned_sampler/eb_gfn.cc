// EB-GFN (Zhang et al. 2022): a policy that builds rows variable by variable learns beside the energy to draw
// from it, and the negatives are rows of the data of which it takes a part away and builds it anew. One step:
//   1. The policy learns by trajectory balance, from rows that it builds and from ways in which it takes rows
//      of the data apart. The energy is given; no gradient goes through it.
//   2. From each row it removes K variables and adds K again. K grows from 1 to all of them.
//   3. The new row takes the place of the old one with a probability by which exp(-U) is left invariant,
//      whatever the policy has learned: the ratio of energies and of the whole ways there and back.

#include <algorithm>
#include <cmath>

#include "models/policy/construction_policy.h"
#include "trainer/negatives/learned_sampler/learned_sampler.h"
#include "trainer/policy/policy_learner.h"

namespace ort_ed {
namespace {

constexpr uint32_t kBuildPurpose = 0x47464E42;        // "GFNB"
constexpr uint32_t kTakeApartPurpose = 0x47464E54;    // "GFNT"
constexpr uint32_t kReconstructPurpose = 0x47464E52;  // "GFNR"
constexpr uint32_t kAcceptPurpose = 0x47464E41;       // "GFNA"

enum class Acceptance { kBarker, kMetropolis };

class EbGfn final : public LearnedSampler<PolicyLearner> {
 public:
  struct Options {
    PolicyOptions policy;
    Acceptance acceptance = Acceptance::kBarker;
    double growth = 1;
    Validation validation;

    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::policy);
      declare("acceptance", &Options::acceptance,
              {{"barker", Acceptance::kBarker}, {"metropolis", Acceptance::kMetropolis}},
              "of a negative that the policy proposes, else the row itself: barker, metropolis");
      declare("growth", &Options::growth, "(0, 1]",
              "part of the training in which the variables that are built anew grow from one to all");
      declare.All(&Options::validation);
    }
  };

  EbGfn(const Options& options, const RowContext& rows)
      : LearnedSampler("policy.onnx", std::make_unique<PolicyLearner>(options.policy, rows),
                       options.validation, rows),
        options_(options),
        dimension_(rows.dimension) {}

  OptionMap Describe(double) const override { return GetOptions(SchemaOf<Options>(), &options_); }
  std::map<std::string, double> Metrics() const override {
    return {{"policy_loss", policy_loss_}, {"acceptance", acceptance_}, {"log_z", learner().log_z()}};
  }

 private:
  void LearnAndDraw(const StepView& view, ContrastiveBatch& batch) override {
    LearnPolicy(view, batch);
    DrawNegatives(view, batch);
  }

  static std::vector<double> Energies(const StepView& view, std::span<const uint8_t> rows) {
    const std::vector<float> states(rows.begin(), rows.end());
    std::vector<double> energies(rows.size() / static_cast<size_t>(view.energy->dimension()));
    view.energy->Energy(states, energies);
    return energies;
  }

  void LearnPolicy(const StepView& view, ContrastiveBatch& batch) {
    std::vector<uint8_t> data;
    for (int64_t i = 0; i < batch.positives; ++i)
      data.insert(data.end(), batch.Positive(i).begin(), batch.Positive(i).end());
    auto building = Streams(view, kBuildPurpose, view.first_row, batch.positives);
    auto taking = Streams(view, kTakeApartPurpose, view.first_row, batch.positives);
    ConstructionPaths paths = BuildRows(learner().view(), building);
    const ConstructionPaths of_data = TakeApart(learner().view(), data, taking);
    paths.ends.insert(paths.ends.end(), of_data.ends.begin(), of_data.ends.end());
    paths.order.insert(paths.order.end(), of_data.order.begin(), of_data.order.end());
    policy_loss_ = learner().Learn(paths, Energies(view, paths.ends), view.step + 1);
  }

  void DrawNegatives(const StepView& view, ContrastiveBatch& batch) {
    const int64_t m = batch.negatives, count = batch.positives * m;
    std::vector<uint8_t> starts;
    for (int64_t i = 0; i < batch.positives; ++i)
      for (int64_t j = 0; j < m; ++j)
        starts.insert(starts.end(), batch.Positive(i).begin(), batch.Positive(i).end());
    auto random = Streams(view, kReconstructPurpose, view.first_row * m, count);
    const Reconstruction proposed = Reconstruct(learner().view(), starts, VariablesAnew(view), random);
    const std::vector<double> before = Energies(view, starts), after = Energies(view, proposed.rows);
    auto accepting = Streams(view, kAcceptPurpose, view.first_row * m, count);
    int64_t accepted = 0;
    for (int64_t chain = 0; chain < count; ++chain) {
      const double log_ratio = before[chain] - after[chain] + proposed.log_ratios[chain];
      const bool accept = accepting[chain].UniformDouble() < AcceptanceProbability(log_ratio);
      accepted += accept;
      const auto& from = accept ? proposed.rows : starts;
      std::copy_n(from.begin() + chain * dimension_, dimension_,
                  batch.Negatives(chain / m).begin() + chain % m * dimension_);
    }
    acceptance_ = static_cast<double>(accepted) / static_cast<double>(count);
  }

  double AcceptanceProbability(double log_ratio) const {
    return options_.acceptance == Acceptance::kBarker ? 1 / (1 + std::exp(-log_ratio)) : std::exp(log_ratio);
  }

  int64_t VariablesAnew(const StepView& view) const {
    const double part = std::min(1.0, view.progress / options_.growth);
    return std::max<int64_t>(1, static_cast<int64_t>(part * static_cast<double>(dimension_)));
  }

  Options options_;
  int64_t dimension_;
  double policy_loss_ = 0, acceptance_ = 0;
};

}  // namespace

extern const NegativeKind kEbGfnNegatives;
const NegativeKind kEbGfnNegatives =
    SourceKind<EbGfn>("eb-gfn", "rows that a policy takes apart and rebuilds; it learns beside the energy",
                      "contrastive-divergence");

}  // namespace ort_ed
