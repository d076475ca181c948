// Spins on a periodic lattice, drawn by Gibbs sampling, for `ort-ed data`.

#include "tools/jobs/data/ising_rows.h"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "models/architectures/lattice.h"
#include "ort_ed/error.h"
#include "ort_ed/sampler.h"
#include "runtime/data/row_writer.h"
#include "tools/cli/command.h"
#include "tools/cli/data_family.h"
#include "tools/cli/option_values.h"
#include "tools/cli/progress.h"
#include "tools/jobs/quadratic_couplings.h"

namespace ort_ed {
namespace {

constexpr int64_t kMostSpins = 4096;
constexpr int64_t kChainsAtOnce = 4096;
constexpr int64_t kUpdatesAtOnce = int64_t{1} << 28;  // between two looks at the clock and the keyboard

std::vector<DataFamily::Member> Members() {
  return {{"ising",
           "spins on a periodic lattice, p(s) ~ exp(s'Js), J = sigma where adjacent, by Gibbs sampling"}};
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("--shape")
      .default_value(std::string("10x10"))
      .metavar("HxW")
      .help("of the lattice (ising)");
  parser.add_argument("--sigma").default_value(0.2).scan<'g', double>().metavar("S").help(
      "coupling of neighbours (ising); each pair counts twice in s'Js, so the critical value is near 0.22");
  parser.add_argument("--steps")
      .default_value(int64_t{1000000})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("single-site updates of each row's chain, site after site, from fair coins (ising)");
  parser.add_argument("--couplings")
      .metavar("FILE")
      .help("also write J, one row for each spin: .npy, .csv or .tsv (ising)");
  parser.add_argument("--threads")
      .default_value(0)
      .scan<'i', int>()
      .metavar("N")
      .help("0: all cores; the rows do not depend on it (ising)");
}

// -s'Js with s = 2x - 1 as a function of x.
std::shared_ptr<const QuadraticEnergy> SpinEnergy(std::span<const double> couplings, int64_t spins,
                                                  int threads) {
  double constant = 0;
  std::vector<double> fields(spins);
  std::vector<double> pairs(couplings.size());
  for (int64_t i = 0; i < spins; ++i) {
    for (int64_t j = 0; j < spins; ++j) {
      const double coupling = couplings[i * spins + j];
      constant -= coupling;
      fields[i] += 4 * coupling;
      pairs[i * spins + j] = -8 * coupling;
    }
  }
  return std::make_shared<QuadraticEnergy>(constant, fields, pairs, threads);
}

// Runs the updates of a batch of chains; `report` hears of the updates done.
template <typename Report>
void RunUpdates(const EnergyPath& target, Chains& chains, int64_t updates, int threads,
                const Report& report) {
  SamplerOptions options;
  options.threads = threads;
  const int64_t spins = chains.dimension;
  const auto sampler = MakeSampler("gibbs", target, options);
  const int64_t sweeps_at_once = std::max<int64_t>(1, kUpdatesAtOnce / (chains.count * spins));
  for (int64_t sweeps = updates / spins; sweeps > 0;) {
    const int64_t now = std::min(sweeps, sweeps_at_once);
    sampler->Step(chains, now);
    sweeps -= now;
    report(now * spins);
  }
  if (updates % spins == 0) return;
  options.updates_per_step = updates % spins;
  MakeSampler("gibbs", target, options)->Step(chains, 1);
  report(updates % spins);
}

std::vector<double> CouplingsOf(const IsingRequest& request) {
  return LatticeCouplings({request.height, request.width}, request.sigma);
}

void Write(const DataRequest& request, const argparse::ArgumentParser& arguments) {
  const std::vector<int64_t> shape = ImageShapeOf(arguments, "--shape");
  const IsingRequest ising{.height = shape[0],
                           .width = shape[1],
                           .sigma = arguments.get<double>("--sigma"),
                           .rows = request.rows,
                           .updates = arguments.get<int64_t>("--steps"),
                           .seed = request.seed,
                           .threads = NumberFrom(arguments, "--threads", 0)};
  const int64_t spins = ising.height * ising.width;
  const auto writer = CreateBitFile(request.output, {.columns = spins});
  DrawIsingRows(ising, [&](std::span<const uint8_t> rows) { writer->Write(rows); });
  if (const auto path = arguments.present("--couplings")) WriteCouplings(*path, CouplingsOf(ising));
  writer->Commit();
  spdlog::info("{}: {} rows of {} spins", request.output, request.rows, spins);
}

}  // namespace

void DrawIsingRows(const IsingRequest& request,
                   const std::function<void(std::span<const uint8_t> rows)>& consume) {
  if (request.updates < 0)
    throw UsageError(fmt::format("--steps {} is not a number of updates", request.updates));
  const int64_t spins = request.height * request.width;
  if (spins > kMostSpins)
    throw UsageError(fmt::format("--shape: at most {} spins, not {}", kMostSpins, spins));
  const EnergyPath target(SpinEnergy(CouplingsOf(request), spins, request.threads));
  const auto show = ShowWork("drawing ising", "updates");
  int64_t done = 0;
  for (int64_t first = 0; first < request.rows; first += kChainsAtOnce) {
    const int64_t count = std::min(kChainsAtOnce, request.rows - first);
    Chains chains = StartChains(target, count, request.seed, static_cast<uint64_t>(first));
    RunUpdates(target, chains, request.updates, request.threads, [&](int64_t updates_of_chain) {
      show(done += updates_of_chain * count, request.rows * request.updates);
    });
    consume(std::vector<uint8_t>(chains.states.begin(), chains.states.end()));
  }
}

extern const DataFamily kIsingData = {
    .members = Members,
    .add_arguments = AddArguments,
    .options = {"--shape", "--sigma", "--steps", "--couplings", "--threads"},
    .write = Write,
};

}  // namespace ort_ed
