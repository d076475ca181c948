// Spins on a periodic lattice, drawn by Gibbs sampling.

#include <algorithm>

#include <fmt/format.h>

#include "models/architectures/lattice.h"
#include "ort_ed/sampler.h"
#include "runtime/support/text.h"
#include "tools/jobs/data/synthetic_kinds.h"
#include "tools/jobs/sample/chains.h"

namespace ort_ed {
namespace {

constexpr int64_t kMostSpins = 4096;
constexpr int64_t kChainsAtOnce = 4096;

// p(s) proportional to exp(s'Js), J = sigma where adjacent.
class IsingSet : public SyntheticSet {
 public:
  struct Options {
    std::string shape = "10x10";
    double sigma = 0.2;
    int64_t steps = 1000000;

    static void Describe(Declare<Options>& declare) {
      declare("shape", &Options::shape, "HxW", "height and width of the lattice");
      declare("sigma", &Options::sigma, "",
              "coupling of neighbours; each pair counts twice in s'Js, so the critical value is near 0.22");
      declare("steps", &Options::steps, "[0, inf)",
              "single-site updates of each row's chain, site after site, from fair coins");
    }
  };

  IsingSet(const Options& options, int threads)
      : lattice_(MakeLattice(options.shape)),
        sigma_(options.sigma),
        updates_(options.steps),
        threads_(threads) {}

  int64_t columns() const override { return lattice_.height * lattice_.width; }
  std::string DescribeRow() const override { return fmt::format("{} spins", columns()); }
  std::vector<double> Couplings() const override { return LatticeCouplings(lattice_, sigma_); }

  void Draw(int64_t rows, uint64_t seed, const Consumer& consume, Observer& observer) const override {
    const EnergyPath target(SpinEnergy());
    const auto watch = Watch(observer, "drawing ising", "updates");
    int64_t done = 0;
    for (int64_t first = 0; first < rows; first += kChainsAtOnce) {
      const int64_t count = std::min(kChainsAtOnce, rows - first);
      Chains chains = StartChains(target, count, seed, static_cast<uint64_t>(first));
      Update(target, chains, [&](int64_t updates) { watch(done + updates * count, rows * updates_); });
      done += updates_ * count;
      consume(std::vector<uint8_t>(chains.states.begin(), chains.states.end()));
    }
  }

 private:
  static Lattice MakeLattice(const std::string& text) {
    const auto shape = ParseShape(text);
    if (!shape)
      throw OptionError("shape", fmt::format("must be a height and a width such as 10x10, not '{}'", text));
    const Lattice lattice{.height = shape->at(0), .width = shape->at(1)};
    if (lattice.height * lattice.width > kMostSpins)
      throw OptionError("shape", fmt::format("must have at most {} spins, not {}", kMostSpins,
                                             lattice.height * lattice.width));
    return lattice;
  }

  // -s'Js with s = 2x - 1 as a function of x.
  std::shared_ptr<const QuadraticEnergy> SpinEnergy() const {
    const std::vector<double> couplings = Couplings();
    const int64_t spins = columns();
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
    return std::make_shared<QuadraticEnergy>(constant, fields, pairs, threads_);
  }

  // Whole sweeps, and what is left; `report` hears of the updates of each chain.
  void Update(const EnergyPath& target, Chains& chains,
              const std::function<void(int64_t updates)>& report) const {
    const int64_t spins = columns(), rest = updates_ % spins;
    Pace pace;
    int64_t done = 0;
    AdvanceChains(*MakeSampler("gibbs", target, threads_), chains, updates_ / spins, pace,
                  [&](int64_t sweeps) {
                    report(done += sweeps * spins);
                    return true;
                  });
    if (rest == 0) return;
    MakeSampler(Choice("gibbs", {{"updates", rest}}), target, threads_)->Step(chains, 1);
    report(updates_);
  }

  Lattice lattice_;
  double sigma_;
  int64_t updates_;
  int threads_;
};

}  // namespace

SyntheticKind IsingKind() {
  return {
      .name = "ising",
      .summary = "spins on a periodic lattice, p(s) ~ exp(s'Js), J = sigma where adjacent, by Gibbs sampling",
      .schema = &SchemaOf<IsingSet::Options>,
      .make = [](const SyntheticKind&, const OptionMap& options,
                 int threads) -> std::unique_ptr<SyntheticSet> {
        return std::make_unique<IsingSet>(MakeOptions<IsingSet::Options>(options), threads);
      },
      .has_couplings = true,
      .uses_threads = true};
}

}  // namespace ort_ed
