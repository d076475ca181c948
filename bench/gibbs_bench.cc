// Site updates a second of Gibbs sampling, next to the same in PyTorch (peers/gibbs_torch.py), on the 10 x 10
// Ising model and on the MLP 32-256-256-256-1.
//   gibbs_bench [THREADS [SECONDS]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <onnx/onnx_pb.h>

#include "models/energy_spec.h"
#include "ort_ed/sampler.h"

namespace ort_ed {
namespace {

struct Case {
  const char* name;
  const char* peer;
  EnergySpec spec;
  int64_t chains;
};

EnergyModel Load(const EnergySpec& spec, int threads) {
  const std::string bytes = BuildModel(spec).SerializeAsString();
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)), {.threads = threads});
}

double UpdatesPerSecond(const Case& test, int threads, double seconds) {
  using Clock = std::chrono::steady_clock;
  const EnergyModel model = Load(test.spec, threads);
  const Target target(MakeEnergyFunction(model, {.threads = threads}));
  SamplerOptions options;
  options.threads = threads;
  const auto sampler = MakeSampler("gibbs", target, options);
  Chains chains = StartChains(target, test.chains, 1);
  sampler->Step(chains, 1);
  chains.counters = {};
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  // A hundred sweeps a call where a sweep is quick, as a long run makes them.
  const int64_t sweeps = target.energy->quadratic() != nullptr ? 100 : 1;
  while (elapsed() < seconds) sampler->Step(chains, sweeps);
  return static_cast<double>(chains.counters.proposals) / elapsed();
}

// With the system's Python, which has Debian's PyTorch. 0 where it is not installed (tools/setup.sh --bench
// does).
double PeerUpdatesPerSecond(const Case& test, int threads, double seconds, bool cached) {
  const std::string command = std::string("/usr/bin/python3 " ORT_ED_PEERS "/gibbs_torch.py ") + test.peer +
                              " " + std::to_string(test.chains) + " " + std::to_string(threads) + " " +
                              std::to_string(seconds) + (cached ? " --cached" : "");
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  double rate = 0;
  return pipe && std::fscanf(pipe.get(), "%lf", &rate) == 1 ? rate : 0;
}

void Compare(const Case& test, int threads, double seconds) {
  // Ours before and after the peer, so that a change of the machine's load shows.
  const double before = UpdatesPerSecond(test, threads, seconds / 2);
  const double peer = PeerUpdatesPerSecond(test, threads, seconds, false);
  const double cached = PeerUpdatesPerSecond(test, threads, seconds, true);
  const double after = UpdatesPerSecond(test, threads, seconds / 2);
  const double ours = (before + after) / 2;
  std::printf(
      "%-6s %6lld chains  ort-ed %11.4g (%.4g, %.4g)  PyTorch %10.4g (x %.1f)  with cached energies %10.4g "
      "(x %.1f)\n",
      test.name, static_cast<long long>(test.chains), ours, before, after, peer, ours / peer, cached,
      ours / cached);
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 4;
  std::printf("site updates a second, %d thread(s)\n", threads);
  using ort_ed::Case;
  using ort_ed::EnergySpec;
  EnergySpec ising{.architecture = "ising", .dimension = 100, .image_shape = {10, 10}};
  ising.options = {{"init", "lattice"}};
  const EnergySpec mlp{.architecture = "mlp", .dimension = 32};
  ort_ed::Compare(Case{"ising", "ising", ising, 2000}, threads, seconds);
  ort_ed::Compare(Case{"mlp", "mlp", mlp, 1000}, threads, seconds);
}
