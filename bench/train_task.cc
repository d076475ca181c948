// A training step as a task of bench/peers.py and bench/families.py: Bernoulli negatives, energies, loss,
// gradients, clipping (MLP), Adam, moving average.

#include <algorithm>
#include <cmath>
#include <optional>

#include <onnx/onnx_pb.h>

#include "bench/check_numbers.h"
#include "bench/pair_task.h"
#include "models/architectures/energy_spec.h"
#include "models/graph/model_file.h"
#include "ort_ed/random.h"
#include "trainer/learner/learner.h"
#include "trainer/learner/parameter_choice.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kNegatives = 32, kCheckedSteps = 5;

struct Setup {
  PreparedModel model;
  LearnerOptions learner;
  int64_t batch;
  double learning_rate, epsilon;
};

Setup BuiltInSetup(const std::string& network) {
  Setup setup{};
  const bool mlp = network == "mlp";
  EnergySpec energy;
  energy.architecture = network;
  if (mlp) {
    energy.dimension = 32;
  } else {
    energy.image_shape = {28, 28};
  }
  energy.base_mean.assign(mlp ? 32 : 784, 0.4f);
  onnx::ModelProto model = BuildModel(energy);
  SetNamedWeights(model);
  setup.model = Prepare(model);
  setup.learner.optimizer.clip = mlp ? 5 : 0;
  setup.batch = mlp ? 128 : 10;
  setup.learning_rate = mlp ? 2e-3 : 1e-4;
  setup.epsilon = mlp ? 0.1 : 0.005;
  return setup;
}

Setup FileSetup(const std::string& path, int64_t batch) {
  Setup setup{};
  setup.model = Prepare(LoadModel(path), path);
  setup.learner.buffers = FindRoles(setup.model.model, {}).BufferNames();
  setup.batch = batch;
  setup.learning_rate = 1e-3;
  setup.epsilon = 0.05;
  return setup;
}

class TrainTask : public PairTask {
 public:
  TrainTask(Setup setup, bool standard)
      : setup_(std::move(setup)),
        batch_(setup_.batch, kNegatives, dimension(), false),
        negatives_(
            MakeNegatives({"bernoulli", {{"epsilon", setup_.epsilon}}}, {.dimension = batch_.dimension})) {
    setup_.learner.cpu_kernels = !standard;
    setup_.learner.optimizer.ema = 0.999;
    RandomStream random(1, 1, 0, 0);
    for (int64_t i = 0; i < batch_.positives; ++i) {
      for (uint8_t& bit : batch_.Positive(i)) bit = random.Bernoulli(0.5f);
    }
  }

  void SetThreads(int threads) override {
    setup_.learner.threads = threads;
    learner_.reset();
    learner_.emplace(setup_.model, setup_.learner, BatchShape{.negatives = kNegatives});
  }

  double Step() override {
    ++number_;
    negatives_->Fill({.seed = 1, .step = number_}, batch_);
    return learner_->Step(batch_, setup_.learning_rate, number_).loss;
  }

  // On rows that all sides have; the loss as it is without -log M.
  std::vector<double> Check() override {
    const std::vector<uint8_t> positives = NamedBits("positives", batch_.positives * dimension());
    const std::vector<uint8_t> flips =
        NamedBits("flips", batch_.positives * kNegatives * dimension(), static_cast<float>(setup_.epsilon));
    auto flip = flips.begin();
    for (int64_t i = 0; i < batch_.positives; ++i) {
      const auto positive = positives.begin() + i * dimension();
      std::copy_n(positive, dimension(), batch_.Positive(i).begin());
      int64_t column = 0;
      for (uint8_t& bit : batch_.Negatives(i)) bit = positive[column++ % dimension()] ^ *flip++;
    }
    std::vector<double> losses;
    for (int64_t step = 1; step <= kCheckedSteps; ++step)
      losses.push_back(learner_->Step(batch_, setup_.learning_rate, step).loss + std::log(kNegatives));
    return losses;
  }

 private:
  int64_t dimension() const { return setup_.model.contract.dimension; }

  Setup setup_;
  ContrastiveBatch batch_;
  std::unique_ptr<NegativeSource> negatives_;
  std::optional<Learner> learner_;
  int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<PairTask> MakeTrainTask(const std::string& network, bool standard) {
  return std::make_unique<TrainTask>(BuiltInSetup(network), standard);
}

std::unique_ptr<PairTask> MakeTrainFileTask(const std::string& path, int64_t batch,
                                            const std::vector<std::string>& frozen, bool standard) {
  Setup setup = FileSetup(path, batch);
  setup.learner.frozen = frozen;
  return std::make_unique<TrainTask>(std::move(setup), standard);
}

}  // namespace ort_ed
