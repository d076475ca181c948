// ALOE (Dai et al. 2020): a sampler that draws rows and edits them learns beside the energy. One step:
//   1. The sampler draws as many rows as there are negatives, and a sweep of Gibbs sampling under the energy
//      refines them: these are the negatives.
//   2. The sampler learns from the refined rows by maximum likelihood, so that it does at once what the sweep
//      had to correct.

#include <algorithm>

#include "ort_ed/sampler.h"
#include "trainer/collective/shared_sampler.h"
#include "trainer/negatives/learned_sampler/learned_sampler.h"
#include "trainer/policy/edit_learner.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x414C4F44;  // "ALOD"
constexpr uint32_t kWaysPurpose = 0x414C4F57;  // "ALOW"

class Aloe final : public LearnedSampler<EditLearner> {
 public:
  struct Options {
    EditOptions edits;
    int64_t sweeps = 1;
    Validation validation;

    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::edits);
      declare("sweeps", &Options::sweeps, "[0, 1000000]", "of Gibbs sampling that refine the sampler's rows");
      declare.All(&Options::validation);
    }
  };

  Aloe(const Options& options, const RowContext& rows)
      : LearnedSampler("aloe.onnx", std::make_unique<EditLearner>(options.edits, rows), options.validation,
                       rows),
        options_(options),
        threads_(rows.threads) {}

  OptionMap Describe(double) const override { return GetOptions(SchemaOf<Options>(), &options_); }
  std::map<std::string, double> Metrics() const override { return {{"policy_loss", loss_}}; }

 private:
  void LearnAndDraw(const StepView& view, ContrastiveBatch& batch) override {
    const int64_t count = batch.positives * batch.negatives, first = view.first_row * batch.negatives;
    auto drawing = Streams(view, kDrawPurpose, first, count);
    const std::vector<uint8_t> rows = Refine(view, learner().Draw(drawing));
    auto proposing = Streams(view, kWaysPurpose, first, count);
    loss_ = learner().Learn(rows, proposing, view.step + 1);
    auto from = rows.begin();
    for (int64_t i = 0; i < batch.positives; ++i)
      for (uint8_t& bit : batch.Negatives(i)) bit = *from++;
  }

  std::vector<uint8_t> Refine(const StepView& view, const std::vector<uint8_t>& rows) const {
    if (options_.sweeps == 0) return rows;
    // Somebody else's, who keeps it for the whole step.
    const std::shared_ptr<const EnergyFunction> energy(std::shared_ptr<void>(), view.energy);
    const EnergyPath path(energy);
    Chains chains = StartChainsAt(path, {rows.begin(), rows.end()}, view.seed);
    chains.step = static_cast<uint64_t>(view.step * options_.sweeps);
    ShareChains(MakeSampler("gibbs", path, threads_), path,
                view.processes != nullptr ? *view.processes : Alone())
        ->Step(chains, options_.sweeps);
    return {chains.states.begin(), chains.states.end()};
  }

  Options options_;
  int threads_;
  double loss_ = 0;
};

}  // namespace

extern const NegativeKind kAloeNegatives;
const NegativeKind kAloeNegatives = SourceKind<Aloe>(
    "aloe", "rows of a sampler that edits, refined by Gibbs sampling; it learns beside the energy",
    "contrastive-divergence");

}  // namespace ort_ed
