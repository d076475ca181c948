// Time to make the negatives of one optimiser step, to be compared with the step itself (train_step_bench):
// the planar densities (128 rows of 32 bits) and images (10 and 100 rows of 28 x 28), 32 negatives each.
//
//   build/release/bench/perturbation_bench

#include <benchmark/benchmark.h>

#include "ort_ed/random.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

void FillBatch(benchmark::State& state, const Choice& method, const RowContext& context, int64_t rows) {
  const auto source = MakeNegatives(method, context);
  const auto [negatives, weighted] = source->shape(32);
  ContrastiveBatch batch(rows, negatives, context.dimension, weighted);
  RandomStream random(1, 1, 0, 0);
  for (int64_t i = 0; i < rows; ++i) {
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(context.dimension > 32 ? 0.13f : 0.5f);
  }
  int64_t step = 0;
  for (auto _ : state) {
    source->Fill({.seed = 1, .step = ++step}, batch);
    benchmark::DoNotOptimize(batch.rows.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(batch.rows.size()));
}

void Register(const char* size, const RowContext& context, int64_t rows) {
  const auto add = [&](const char* label, const Choice& method) {
    const std::string name = std::string(size) + "/" + label;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      FillBatch(state, method, context, rows);
    })->Unit(benchmark::kMicrosecond);
  };
  add("bernoulli_0.1", {"bernoulli", {{"epsilon", 0.1}}});
  add("bernoulli_0.005", {"bernoulli", {{"epsilon", 0.005}}});
  add("pool_whole", "pool");
  if (!context.image_shape.empty()) add("pool_2x2", {"pool", {{"window", "2x2"}}});
  add("grid", "grid");
  add("grid_exact", {"grid", {{"exact", true}}});
  add("neighbourhood", "neighbourhood");
  add("erase_5_exact", {"erase", {{"block", 5}, {"exact", true}}});
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  ort_ed::Register("128x32", {.dimension = 32}, 128);
  const ort_ed::RowContext image{.dimension = 784, .image_shape = {28, 28}};
  ort_ed::Register("10x784", image, 10);
  ort_ed::Register("100x784", image, 100);
  benchmark::RunSpecifiedBenchmarks();
}
