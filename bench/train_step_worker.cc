// One training step of ours, for bench/train_step_vs_torch.py. Reads commands from standard input, one a
// line, and answers each with one line, as bench/peers/train_step_torch.py does:
//   threads N       a new session with N threads     -> "ok"
//   steps N         takes N optimiser steps          -> the seconds of the fastest and the loss
//   peak N          multiplies in N threads          -> GFLOP/s of the innermost loop on cached operands
// Start with the network as argument: train_step_worker mlp|resnet [--standard], where --standard leaves out
// our own kernels.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <onnx/onnx_pb.h>

#include "models/energy_spec.h"
#include "trainer/kernels/simd_kernels.h"
#include "trainer/perturbation/perturbation.h"
#include "trainer/train_step.h"

namespace ort_ed {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
  setup.training.optimizer.ema_decay = 0.999;
  setup.training.optimizer.clip_norm = mlp ? 5 : 0;
  setup.batch = mlp ? 128 : 10;
  setup.learning_rate = mlp ? 2e-3 : 1e-4;
  setup.epsilon = mlp ? 0.1 : 0.005;
  return setup;
}

class Worker {
 public:
  Worker(const std::string& network, bool standard)
      : setup_(MakeSetup(network)),
        standard_(standard),
        batch_(setup_.batch, setup_.training.loss.negatives, mlp_dimension(), false),
        perturbation_(
            MakePerturbation("bernoulli", {.dimension = batch_.dimension, .epsilon = {setup_.epsilon}})) {
    RandomStream random(1, 1, 0, 0);
    for (int64_t i = 0; i < batch_.positives; ++i) {
      for (uint8_t& bit : batch_.Positive(i)) bit = random.Bernoulli(0.5f);
    }
    SetThreads(1);
  }

  void SetThreads(int threads) {
    TrainStepOptions options;
    options.threads = threads;
    options.cpu_kernels = !standard_;
    step_.reset();
    step_.emplace(BuildModel(setup_.energy), setup_.training, options);
  }

  void Steps(int count) {
    double best = std::numeric_limits<double>::infinity(), loss = 0;
    for (int i = 0; i < count; ++i) {
      const double start = Seconds();
      ++number_;
      FillNegatives(*perturbation_, 1, number_, 0, batch_);
      loss = step_->Step(batch_, setup_.learning_rate, number_).loss;
      best = std::min(best, Seconds() - start);
    }
    std::printf("%.6f %.6f\n", best, loss);
  }

 private:
  int64_t mlp_dimension() const { return static_cast<int64_t>(setup_.energy.base_mean.size()); }

  Setup setup_;
  bool standard_;
  ContrastiveBatch batch_;
  std::unique_ptr<Perturbation> perturbation_;
  std::optional<TrainStep> step_;
  int64_t number_ = 0;
};

// The rate of one tile's products with everything in the first-level cache: what no matrix product exceeds.
double TileRate() {
  constexpr int kRows = SimdKernels::kRows, kDepth = 256, kRepeats = 2000;
  const SimdKernels& simd = BestSimdKernels();
  std::vector<float> weights(kDepth * simd.panel, 1e-3f), values(kRows * kDepth, 1e-3f), start(simd.panel),
      out(kRows * simd.panel);
  const float* rows[kRows];
  float* results[kRows];
  for (int r = 0; r < kRows; ++r) {
    rows[r] = &values[r * kDepth];
    results[r] = &out[r * simd.panel];
  }
  const double begin = Seconds();
  for (int i = 0; i < kRepeats; ++i) {
    simd.rows_times_panel[kRows - 1](1, kDepth, rows, 0, weights.data(), kDepth, start.data(), results);
  }
  return 2e-9 * kRepeats * kRows * simd.panel * kDepth / (Seconds() - begin);
}

void Peak(int threads) {
  std::vector<double> rates(threads);
  std::vector<std::thread> workers;
  for (double& rate : rates) {
    workers.emplace_back([&rate] {
      for (int i = 0; i < 20; ++i) rate = std::max(rate, TileRate());
    });
  }
  double total = 0;
  for (int t = 0; t < threads; ++t) {
    workers[t].join();
    total += rates[t];
  }
  std::printf("%.1f\n", total);
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::fputs("usage: train_step_worker mlp|resnet [--standard]\n", stderr), 2;
  Worker worker(arguments[0], arguments.size() > 1 && arguments[1] == "--standard");
  std::string command;
  int count = 0;
  while (std::cin >> command >> count) {
    if (command == "threads") {
      worker.SetThreads(count);
      std::puts("ok");
    } else if (command == "steps") {
      worker.Steps(count);
    } else if (command == "peak") {
      Peak(count);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main({argv + 1, argv + argc}); }
