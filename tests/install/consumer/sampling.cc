// Example: what a program does with a deployed energy model. Scores, samples, fills in missing values and
// estimates log Z forwards and in reverse.
//   sampling model.onnx
#include <cstdio>
#include <vector>

#include <ort_ed/diagnostics.h>
#include <ort_ed/energy_model.h>
#include <ort_ed/error.h>
#include <ort_ed/log_z.h>
#include <ort_ed/sampler.h>

namespace {

void Run(const char* path) {
  const auto model = ort_ed::EnergyModel::FromFile(path);
  // The path from the model's base distribution (beta = 0) to the model (beta = 1).
  const ort_ed::EnergyPath target(ort_ed::MakeEnergyFunction(model), ort_ed::BernoulliBase::OfModel(model));

  // 1000 chains, 200 sweeps of Gibbs sampling; diagnostics of the second half.
  ort_ed::Chains chains = ort_ed::StartChains(target, 1000, /*seed=*/1);
  const auto sampler = ort_ed::MakeSampler("gibbs", target);
  sampler->Step(chains, 100);
  chains.counters = {};
  ort_ed::TraceRecorder recorder;
  for (int step = 0; step < 100; ++step) {
    sampler->Step(chains, 1);
    recorder.Record(chains);
  }
  const auto diagnostics = recorder.Summarise(chains.counters, /*seconds=*/1);
  std::printf("effective sample size %.0f, R-hat %.3f\n", diagnostics.energy_ess, diagnostics.energy_r_hat);

  // The same conditionally on the last variable being 1.
  ort_ed::Chains conditional = chains;
  for (int64_t chain = 0; chain < conditional.count; ++chain) conditional.state(chain).back() = 1;
  conditional = ort_ed::StartChainsAt(target, conditional.states, /*seed=*/2);
  conditional.clamped.assign(conditional.dimension, 0);
  conditional.clamped.back() = 1;
  sampler->Step(conditional, 100);

  // log Z from below, by chains from the base, and from above, by chains from the model's samples.
  ort_ed::AnnealingOptions options;
  options.temperatures = 300;
  auto forward = ort_ed::Annealing::Forward(target, options);
  forward.Run();
  auto reverse = ort_ed::Annealing::Reverse(target, options, chains.states);
  reverse.Run();
  std::printf("log Z between %.3f and %.3f\n", forward.Estimate().log_z, reverse.Estimate().log_z);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    Run(argv[1]);
  } catch (const ort_ed::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
