// Time to make the negatives of one optimiser step, to be compared with the step itself (train_step_bench):
// the planar densities (128 rows of 32 bits) and images (10 and 100 rows of 28 x 28), 32 negatives each.
//
//   build/release/bench/perturbation_bench

#include <benchmark/benchmark.h>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

void FillBatch(benchmark::State& state, const char* method, const PerturbationOptions& options,
               int64_t rows) {
  const auto perturbation = MakePerturbation(method, options);
  ContrastiveBatch batch(rows, perturbation->NegativesPerRow(32), options.dimension,
                         perturbation->Weighted());
  RandomStream random(1, 1, 0, 0);
  for (int64_t i = 0; i < rows; ++i) {
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(options.dimension > 32 ? 0.13f : 0.5f);
  }
  uint64_t step = 0;
  for (auto _ : state) {
    FillNegatives(*perturbation, 1, ++step, 0, batch);
    benchmark::DoNotOptimize(batch.rows.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(batch.rows.size()));
}

void Register(const char* size, const PerturbationOptions& common, int64_t rows) {
  const auto add = [&](const char* label, const char* method, auto change) {
    PerturbationOptions options = common;
    change(options);
    const std::string name = std::string(size) + "/" + label;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      FillBatch(state, method, options, rows);
    })->Unit(benchmark::kMicrosecond);
  };
  add("bernoulli_0.1", "bernoulli", [](PerturbationOptions& o) { o.epsilon = {0.1}; });
  add("bernoulli_0.005", "bernoulli", [](PerturbationOptions& o) { o.epsilon = {0.005}; });
  add("pool_whole", "pool", [](PerturbationOptions&) {});
  add("pool_2x2", "pool", [](PerturbationOptions& o) { o.window = {2, 2}; });
  add("grid", "grid", [](PerturbationOptions&) {});
  add("grid_exact", "grid", [](PerturbationOptions& o) { o.exact = true; });
  add("neighbourhood", "neighbourhood", [](PerturbationOptions&) {});
  add("erase_5_exact", "erase", [](PerturbationOptions& o) {
    o.block = 5;
    o.exact = true;
  });
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  ort_ed::PerturbationOptions options;
  options.dimension = 32;
  ort_ed::Register("128x32", options, 128);
  options.dimension = 784;
  options.image_shape = {28, 28};
  ort_ed::Register("10x784", options, 10);
  ort_ed::Register("100x784", options, 100);
  benchmark::RunSpecifiedBenchmarks();
}
