// A step of persistent contrastive divergence as a task of bench/peers.py: chains of a gradient-guided
// sampler go on by some steps under the energy as it is, then Adam and the moving average.

#include <optional>

#include "bench/pair_task.h"
#include "models/architectures/energy_spec.h"
#include "ort_ed/random.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kBatch = 16, kChainSteps = 10, kSide = 28, kDimension = kSide * kSide;

class PcdTask : public PairTask {
 public:
  PcdTask(const std::string& sampler, bool standard)
      : method_("pcd", {{"sampler", sampler}, {"chain_steps", kChainSteps}, {"buffer", kBatch}}),
        standard_(standard),
        batch_(kBatch, 1, kDimension, false) {
    spec_.architecture = "resnet";
    spec_.image_shape = {kSide, kSide};
    spec_.base_mean.assign(kDimension, 0.4f);
    RandomStream random(1, 1, 0, 0);
    for (int64_t i = 0; i < batch_.positives; ++i)
      for (uint8_t& bit : batch_.Positive(i)) bit = random.Bernoulli(0.5f);
  }

  void SetThreads(int threads) override {
    LearnerOptions options;
    options.objective = ObjectiveOf(method_);
    options.optimizer.ema = 0.999;
    options.threads = threads;
    options.cpu_kernels = !standard_;
    learner_.reset();
    learner_.emplace(Prepare(BuildModel(spec_)), options, BatchShape{.negatives = 1});
    chains_ = MakeNegatives(method_, {.dimension = kDimension,
                                      .mean = std::vector<double>(kDimension, 0.5),
                                      .step_negatives = kBatch,
                                      .threads = threads});
    number_ = 0;
  }

  double Step() override {
    const auto energy = learner_->CurrentEnergy(chains_->needs().gradient);
    chains_->Fill({.seed = 1, .step = number_, .energy = energy.get()}, batch_);
    return learner_->Step(batch_, 1e-4, ++number_).loss;
  }

 private:
  Choice method_;
  bool standard_;
  EnergySpec spec_;
  ContrastiveBatch batch_;
  std::optional<Learner> learner_;
  std::unique_ptr<NegativeSource> chains_;
  int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<PairTask> MakePcdTask(const std::string& sampler, bool standard) {
  return std::make_unique<PcdTask>(sampler, standard);
}

}  // namespace ort_ed
