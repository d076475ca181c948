// ALOE (Dai et al. 2020): a sampler that draws rows and edits them learns beside the energy. One step:
//   1. The sampler draws as many rows as there are negatives, and a sweep of Gibbs sampling under the energy
//      refines them: these are the negatives.
//   2. The sampler learns from the refined rows by maximum likelihood, so that it does at once what the sweep
//      had to correct.

#include <algorithm>

#include "ort_ed/error.h"
#include "ort_ed/sampler.h"
#include "trainer/policy/edit_learner.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x414C4F44;  // "ALOD"
constexpr uint32_t kWaysPurpose = 0x414C4F57;  // "ALOW"
constexpr char kFile[] = "aloe.onnx";

class Aloe final : public NegativeSource {
 public:
  struct Options {
    EditOptions edits;
    int64_t sweeps = 1;
    double validation_epsilon = 0.1;

    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::edits);
      declare("sweeps", &Options::sweeps, "[0, 1000000]", "of Gibbs sampling that refine the sampler's rows");
      declare("validation_epsilon", &Options::validation_epsilon, "(0, 1)",
              "validation: energy discrepancy with bits flipped with this probability");
    }
  };

  Aloe(const Options& options, const RowContext& rows)
      : options_(options),
        threads_(rows.threads),
        sampler_(std::make_unique<EditLearner>(options.edits, rows)),
        validation_(MakeNegatives({"bernoulli", {{"epsilon", options.validation_epsilon}}}, rows)) {}

  Shape shape(int64_t requested) const override { return {requested, false}; }
  Needs needs() const override { return {.energy = true}; }
  NegativeSource& validation() override { return *validation_; }
  OptionMap Describe(double) const override { return GetOptions(SchemaOf<Options>(), &options_); }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    if (view.energy == nullptr)
      throw Error(ErrorCode::kInvalidArgument, "aloe needs the energy of the model as it is now");
    if (view.step > 0 && !begun_)
      throw Error(ErrorCode::kInvalidArgument, "the training state lacks the sampler's networks");
    begun_ = true;
    const int64_t count = batch.positives * batch.negatives, first = view.first_row * batch.negatives;
    auto drawing = Streams(view, kDrawPurpose, first, count);
    const std::vector<uint8_t> rows = Refine(view, sampler_->Draw(drawing));
    auto proposing = Streams(view, kWaysPurpose, first, count);
    loss_ = sampler_->Learn(rows, proposing, view.step + 1);
    auto from = rows.begin();
    for (int64_t i = 0; i < batch.positives; ++i)
      for (uint8_t& bit : batch.Negatives(i)) bit = *from++;
  }

  std::map<std::string, double> Metrics() const override { return {{"policy_loss", loss_}}; }
  std::map<std::string, std::string> Companions() const override { return {{kFile, sampler_->Deploy()}}; }

  std::vector<StateTensor> Save() const override { return sampler_->Save(); }
  void Load(std::span<const StateTensor> state) override {
    sampler_->Load(state);
    begun_ = true;
  }

 private:
  static std::vector<RandomStream> Streams(const StepView& view, uint32_t purpose, int64_t first,
                                           int64_t count) {
    std::vector<RandomStream> streams;
    for (int64_t row = first; row < first + count; ++row)
      streams.emplace_back(view.seed, purpose, static_cast<uint64_t>(view.step), static_cast<uint64_t>(row));
    return streams;
  }

  std::vector<uint8_t> Refine(const StepView& view, const std::vector<uint8_t>& rows) const {
    if (options_.sweeps == 0) return rows;
    // Somebody else's, who keeps it for the whole step.
    const std::shared_ptr<const EnergyFunction> energy(std::shared_ptr<void>(), view.energy);
    const EnergyPath path(energy);
    Chains chains = StartChainsAt(path, {rows.begin(), rows.end()}, view.seed);
    chains.step = static_cast<uint64_t>(view.step * options_.sweeps);
    MakeSampler("gibbs", path, threads_)->Step(chains, options_.sweeps);
    return {chains.states.begin(), chains.states.end()};
  }

  Options options_;
  int threads_;
  std::unique_ptr<EditLearner> sampler_;
  std::unique_ptr<NegativeSource> validation_;
  bool begun_ = false;
  double loss_ = 0;
};

}  // namespace

extern const NegativeKind kAloeNegatives;
const NegativeKind kAloeNegatives = SourceKind<Aloe>(
    "aloe", "rows of a sampler that edits, refined by Gibbs sampling; it learns beside the energy",
    "contrastive-divergence");

}  // namespace ort_ed
