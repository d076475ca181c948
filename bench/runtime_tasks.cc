// What a deployed model does, as tasks of bench/peers.py.

#include <numeric>
#include <optional>

#include <onnx/onnx_pb.h>

#include "bench/check_numbers.h"
#include "bench/pair_task.h"
#include "models/architectures/energy_spec.h"
#include "ort_ed/log_z.h"
#include "ort_ed/sampler.h"
#include "tests/support/binary_rows.h"

namespace ort_ed {
namespace {

EnergySpec MakeSpec(const std::string& network) {
  if (network == "mlp") return {.architecture = "mlp", .dimension = 32, .image_shape = {}};
  EnergySpec spec{.architecture = network, .dimension = 0, .image_shape = {28, 28}};
  if (network == "ising") {
    spec.image_shape = {10, 10};
    spec.architecture.options["init"] = std::string("lattice");
  }
  return spec;
}

class RuntimeTask : public PairTask {
 public:
  explicit RuntimeTask(const std::string& network) {
    onnx::ModelProto model = BuildModel(MakeSpec(network));
    SetNamedWeights(model);
    bytes_ = model.SerializeAsString();
  }

 protected:
  const EnergyModel& Load(int threads) {
    model_.emplace(EnergyModel::FromMemory(std::as_bytes(std::span(bytes_)), {.threads = threads}));
    return *model_;
  }
  EnergyPath LoadTarget(int threads) {
    return EnergyPath(MakeEnergyFunction(Load(threads), {.threads = threads}));
  }
  static SamplerOptions Options(int threads) {
    SamplerOptions options;
    options.threads = threads;
    return options;
  }

 private:
  std::string bytes_;
  std::optional<EnergyModel> model_;  // outlives the energy functions made of it
};

class ScoreTask : public RuntimeTask {
 public:
  explicit ScoreTask(const std::string& network)
      : RuntimeTask(network),
        rows_(network == "mlp" ? 16384 : 512, network == "mlp" ? 32 : 784),
        energies_(network == "mlp" ? 16384 : 512) {}

  void SetThreads(int threads) override { model_ = &Load(threads); }
  double Step() override {
    model_->Energy(rows_.floats, energies_);
    return std::accumulate(energies_.begin(), energies_.end(), 0.0) / static_cast<double>(energies_.size());
  }
  std::vector<double> Check() override {
    constexpr int64_t kRows = 16;
    std::vector<float> energies(kRows);
    model_->Energy(NamedBits("rows", kRows * model_->dimension()), energies);
    return {energies.begin(), energies.end()};
  }

 private:
  BinaryRows rows_;
  std::vector<float> energies_;
  const EnergyModel* model_ = nullptr;
};

double MeanEnergy(const Chains& chains) {
  return std::accumulate(chains.energies.begin(), chains.energies.end(), 0.0) /
         static_cast<double>(chains.count);
}

class GibbsTask : public RuntimeTask {
 public:
  explicit GibbsTask(const std::string& network)
      : RuntimeTask(network), ising_(network == "ising"), chain_count_(ising_ ? 2000 : 1000) {}

  void SetThreads(int threads) override {
    const EnergyPath target = LoadTarget(threads);
    sampler_ = MakeSampler("gibbs", target, Options(threads));
    chains_ = StartChains(target, chain_count_, 1);
  }
  double Step() override {
    sampler_->Step(chains_, 1);
    return MeanEnergy(chains_);
  }
  std::vector<double> Check() override {
    sampler_->Step(chains_, ising_ ? 300 : 20);
    return MeanAndError(chains_.energies);
  }

 private:
  bool ising_;
  int64_t chain_count_;
  std::unique_ptr<Sampler> sampler_;
  Chains chains_;
};

class AisTask : public RuntimeTask {
 public:
  AisTask() : RuntimeTask("mlp") {}

  void SetThreads(int threads) override {
    AnnealingOptions options;
    options.temperatures = 1000000;  // more than a comparison takes
    options.chains = options.chains_at_once = kChains;
    options.sampler_options = Options(threads);
    annealing_ = std::make_unique<Annealing>(Annealing::Forward(LoadTarget(threads), options));
  }
  double Step() override {
    annealing_->Advance(1);
    return MeanEnergy(annealing_->state().chains);
  }
  std::vector<double> Check() override {
    annealing_->Advance(1);
    return MeanAndError(annealing_->state().chains.energies);
  }

 private:
  static constexpr int64_t kChains = 1000;
  std::unique_ptr<Annealing> annealing_;
};

}  // namespace

std::unique_ptr<PairTask> MakeScoreTask(const std::string& network) {
  return std::make_unique<ScoreTask>(network);
}
std::unique_ptr<PairTask> MakeGibbsTask(const std::string& network) {
  return std::make_unique<GibbsTask>(network);
}
std::unique_ptr<PairTask> MakeAisTask() { return std::make_unique<AisTask>(); }

}  // namespace ort_ed
