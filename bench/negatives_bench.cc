// What a step costs, and which part of it the negatives are.
//
//   build/release/bench/negatives_bench [threads [steps]]
//
// Persistent contrastive divergence: Ising 10 x 10, batch 256, a Gibbs sweep; mlp 32-256-256-256-1, batch
// 128, gibbs (a sweep), gwg and dula (40 steps); a chain for each row. Beside them a step of energy
// discrepancy with 32 negatives on the same network. Refill: a residual network of 24 maps on 28 x 28, batch
// 64, 8 negatives, on a masked autoencoder of 1,000 units.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "models/architectures/energy_spec.h"
#include "ort_ed/base_distribution.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/random.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kSide = 28;

struct Task {
  const char* name;
  Choice architecture;
  int64_t dimension;  // of a residual network that of its images
  int64_t batch;
  int64_t negatives;
  Choice method;
};

EnergySpec SpecOf(const Choice& architecture, int64_t dimension) {
  EnergySpec spec;
  spec.architecture = architecture;
  spec.dimension = dimension;
  if (dimension == kSide * kSide) spec.image_shape = {kSide, kSide};
  return spec;
}

std::shared_ptr<const BaseDistribution> BaseFor(const Task& task, int threads) {
  if (task.method.kind != "refill") return nullptr;
  const std::string model =
      BuildModel(SpecOf({"made", {{"hidden", "1000"}}}, task.dimension)).SerializeAsString();
  return MakeBaseDistribution(EnergyModel::FromMemory(std::as_bytes(std::span(model))), threads);
}

double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

void Time(const Task& task, int threads, int steps) {
  LearnerOptions options;
  options.objective = ObjectiveOf(task.method);
  options.threads = threads;
  Learner learner(Prepare(BuildModel(SpecOf(task.architecture, task.dimension))), options,
                  {task.negatives, false});
  const auto source = MakeNegatives(task.method, {.dimension = task.dimension,
                                                  .mean = std::vector<double>(task.dimension, 0.5),
                                                  .base = BaseFor(task, threads),
                                                  .step_negatives = task.batch * task.negatives,
                                                  .threads = threads});
  ContrastiveBatch batch(task.batch, task.negatives, task.dimension, false);
  RandomStream random(1, 1, 0, 0);
  for (int64_t i = 0; i < batch.positives; ++i)
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.5f);
  std::vector<double> energies, fills, updates;
  for (int step = 0; step < steps; ++step) {
    auto start = std::chrono::steady_clock::now();
    std::shared_ptr<const EnergyFunction> energy;
    if (source->needs().energy) energy = learner.CurrentEnergy(source->needs().gradient);
    energies.push_back(Milliseconds(start));
    start = std::chrono::steady_clock::now();
    source->Fill({.seed = 1, .step = step, .energy = energy.get()}, batch);
    fills.push_back(Milliseconds(start));
    start = std::chrono::steady_clock::now();
    learner.Step(batch, 1e-4, step + 1);
    updates.push_back(Milliseconds(start));
  }
  std::printf("%-34s couplings %7.3f ms, negatives %8.3f ms, update %7.3f ms, step %8.3f ms\n", task.name,
              Median(energies), Median(fills), Median(updates),
              Median(energies) + Median(fills) + Median(updates));
}

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::stoi(argv[1]) : 1;
  const int steps = argc > 2 ? std::stoi(argv[2]) : 30;
  const auto chains = [](const char* sampler) { return Choice("pcd", {{"sampler", sampler}}); };
  const Task tasks[] = {
      {"ising 10x10, pcd gibbs, a sweep", "ising", 100, 256, 1, "pcd"},
      {"ising 10x10, pcd gwg, 40 steps", "ising", 100, 256, 1, chains("gwg")},
      {"ising 10x10, bernoulli, M = 32", "ising", 100, 256, 32, "bernoulli"},
      {"mlp, pcd gibbs, a sweep", "mlp", 32, 128, 1, "pcd"},
      {"mlp, pcd gwg, 40 steps", "mlp", 32, 128, 1, chains("gwg")},
      {"mlp, pcd dula, 40 steps", "mlp", 32, 128, 1, chains("dula")},
      {"mlp, bernoulli, M = 32", "mlp", 32, 128, 32, "bernoulli"},
      {"resnet of 24 maps, refill, M = 8", {"resnet", {{"channels", "24"}}}, kSide * kSide, 64, 8, "refill"},
  };
  for (const Task& task : tasks) Time(task, threads, steps);
  return 0;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main(argc, argv); }
