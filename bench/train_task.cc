// A training step as a task of bench/peers.py: Bernoulli negatives, energies, loss, gradients, clipping
// (MLP), Adam, moving average.

#include <optional>

#include <onnx/onnx_pb.h>

#include "bench/pair_task.h"
#include "models/architectures/energy_spec.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

struct Setup {
  EnergySpec energy;
  TrainingSpec training;
  int64_t batch;
  double learning_rate, epsilon;
};

Setup MakeSetup(const std::string& network) {
  Setup setup{};
  const bool mlp = network == "mlp";
  setup.energy.architecture = network;
  if (mlp) {
    setup.energy.dimension = 32;
  } else {
    setup.energy.image_shape = {28, 28};
  }
  setup.energy.base_mean.assign(mlp ? 32 : 784, 0.4f);
  setup.training.loss.negatives = 32;
  setup.training.optimizer.ema_decay = 0.999;
  setup.training.optimizer.clip_norm = mlp ? 5 : 0;
  setup.batch = mlp ? 128 : 10;
  setup.learning_rate = mlp ? 2e-3 : 1e-4;
  setup.epsilon = mlp ? 0.1 : 0.005;
  return setup;
}

class TrainTask : public PairTask {
 public:
  TrainTask(const std::string& network, bool standard)
      : setup_(MakeSetup(network)),
        standard_(standard),
        batch_(setup_.batch, setup_.training.loss.negatives, dimension(), false),
        perturbation_(
            MakePerturbation("bernoulli", {.dimension = batch_.dimension, .epsilon = {setup_.epsilon}})) {
    RandomStream random(1, 1, 0, 0);
    for (int64_t i = 0; i < batch_.positives; ++i) {
      for (uint8_t& bit : batch_.Positive(i)) bit = random.Bernoulli(0.5f);
    }
  }

  void SetThreads(int threads) override {
    LearnerOptions options;
    options.threads = threads;
    options.cpu_kernels = !standard_;
    step_.reset();
    step_.emplace(BuildModel(setup_.energy), setup_.training, options);
  }

  double Step() override {
    ++number_;
    FillNegatives(*perturbation_, 1, number_, 0, batch_);
    return step_->Step(batch_, setup_.learning_rate, number_).loss;
  }

 private:
  int64_t dimension() const { return static_cast<int64_t>(setup_.energy.base_mean.size()); }

  Setup setup_;
  bool standard_;
  ContrastiveBatch batch_;
  std::unique_ptr<Perturbation> perturbation_;
  std::optional<Learner> step_;
  int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<PairTask> MakeTrainTask(const std::string& network, bool standard) {
  return std::make_unique<TrainTask>(network, standard);
}

}  // namespace ort_ed
