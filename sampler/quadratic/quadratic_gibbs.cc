#include "sampler/quadratic/quadratic_gibbs.h"

#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/heat_bath.h"
#include "sampler/quadratic/sweep_rows.h"

namespace ort_ed {
namespace {

// Flips of one chain are counted in 32 bits.
constexpr int64_t kUpdatesPerCall = int64_t{1} << 30;

std::vector<int32_t> FreeSomewhere(const Chains& chains, const FreeSites& free) {
  if (free.shared()) return {free.of(0).begin(), free.of(0).end()};
  std::vector<int32_t> sites;
  for (int64_t site = 0; site < chains.dimension; ++site) {
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      if (chains.IsClamped(chain, site)) continue;
      sites.push_back(static_cast<int32_t>(site));
      break;
    }
  }
  return sites;
}

// Site updates of free coordinates in one step of all chains.
double CountUpdatesPerStep(const Chains& chains, const FreeSites& free, int64_t updates, int64_t site_count) {
  int64_t free_count = 0;
  for (int64_t chain = 0; chain < chains.count; ++chain) free_count += std::ssize(free.of(chain));
  return static_cast<double>(free_count) * static_cast<double>(updates) / static_cast<double>(site_count);
}

double NanosecondsPerUpdate(const QuadraticEnergy& energy) {
  return 2 + 0.2 * static_cast<double>(energy.starts().back()) / static_cast<double>(energy.dimension());
}

void CountUpdates(Chains& chains, int64_t updates, int64_t flips) {
  chains.counters.energy_evaluations += updates;
  chains.counters.proposals += updates;
  chains.counters.acceptances += updates;
  chains.counters.moves += flips;
  chains.counters.bits_flipped += flips;
}

// One group of chains through all its steps.
class SweepGroup {
 public:
  SweepGroup(const EnergyPath& target, Chains& chains, int64_t group)
      : target_(target),
        chains_(chains),
        group_(group),
        states_(chains.dimension),
        clamped_(chains.dimension) {
    states_.Load(std::span<const float>(chains.states), group);
  }

  // Fills what belongs to the group, runs, and returns the number of flips.
  int64_t Run(Sweep sweep, bool clamps_differ) {
    SweepBits flips{};
    sweep.first_row = static_cast<uint32_t>(chains_.first_chain + group_ * kSweepRows);
    sweep.states = states_.data();
    sweep.flips = &flips;
    sweep.betas = {};
    for (int64_t chain = first(); chain < last(); ++chain)
      sweep.betas.row[chain - first()] = static_cast<float>(chains_.betas[chain]);
    if (clamps_differ) sweep.free = FreeMask();
    RunSweep(sweep);
    // Rows beyond the last chain ran along.
    return std::accumulate(flips.row, flips.row + (last() - first()), int64_t{0});
  }

  void Finish(const QuadraticEnergy& energy) {
    SweepDoubles values;
    EvaluateRows(MakeSweepEnergy(energy), states_.data(), values, nullptr);
    states_.Store(chains_.states, group_);
    for (int64_t chain = first(); chain < last(); ++chain)
      chains_.energies[chain] = energy.constant() + values.row[chain - first()];
    const int64_t count = last() - first();
    target_.base->independent()->Energy(std::span<const float>(chains_.states)
                                            .subspan(first() * chains_.dimension, count * chains_.dimension),
                                        std::span(chains_.base_energies).subspan(first(), count));
  }

  int64_t first() const { return group_ * kSweepRows; }
  int64_t last() const { return std::min(chains_.count, first() + kSweepRows); }

 private:
  const SweepBits* FreeMask() {
    clamped_.Load(std::span<const uint8_t>(chains_.clamped), group_);
    for (int64_t site = 0; site < chains_.dimension; ++site)
      for (int32_t& mask : clamped_.data()[site].row) mask = ~mask;
    return clamped_.data();
  }

  const EnergyPath& target_;
  Chains& chains_;
  int64_t group_;
  SweepRows states_;
  SweepRows clamped_;
};

}  // namespace

void SystematicQuadraticGibbs(const EnergyPath& target, const QuadraticGibbsOptions& options, Chains& chains,
                              int64_t steps, bool backwards) {
  const QuadraticEnergy& energy = *target.energy->quadratic();
  const FreeSites free(chains);
  const std::vector<int32_t> sites = FreeSomewhere(chains, free);
  const uint64_t first_step = std::exchange(chains.step, chains.step + static_cast<uint64_t>(steps));
  if (sites.empty()) return;
  const std::span<const double> fields = target.base->independent()->fields();
  const std::vector<float> base_fields(fields.begin(), fields.end());
  Sweep sweep{};
  sweep.energy = MakeSweepEnergy(energy);
  sweep.base_fields = base_fields.data();
  sweep.sites = sites.data();
  sweep.site_count = static_cast<int64_t>(sites.size());
  sweep.updates = options.updates > 0 ? options.updates : sweep.site_count;
  sweep.backwards = backwards;
  sweep.random_key = RandomStream::Key(chains.seed, kGibbsPurpose);

  const int64_t steps_per_call = std::max<int64_t>(1, kUpdatesPerCall / sweep.updates);
  const double updates =
      CountUpdatesPerStep(chains, free, sweep.updates, sweep.site_count) * static_cast<double>(steps);
  std::atomic<int64_t> flips{0};
  ParallelFor(options.threads, CountSweepGroups(chains.count), updates * NanosecondsPerUpdate(energy),
              [&](int64_t index) {
                SweepGroup group(target, chains, index);
                Sweep part = sweep;
                for (int64_t done = 0; done < steps; done += part.steps) {
                  part.first_step = first_step + static_cast<uint64_t>(done);
                  part.steps = std::min(steps_per_call, steps - done);
                  flips += group.Run(part, !free.shared());
                }
                group.Finish(energy);
              });
  CountUpdates(chains, std::llround(updates), flips);
}

void RandomScanQuadraticGibbs(const EnergyPath& target, const QuadraticGibbsOptions& options, Chains& chains,
                              int64_t steps) {
  const QuadraticEnergy& energy = *target.energy->quadratic();
  const std::span<const double> base_fields = target.base->independent()->fields();
  const FreeSites free(chains);
  const int64_t updates = options.updates > 0 ? options.updates : free.most();
  const double work = 10 * NanosecondsPerUpdate(energy) * static_cast<double>(updates * chains.count) *
                      static_cast<double>(steps);
  std::atomic<int64_t> flips{0};
  std::atomic<int64_t> moving_chains{0};
  ParallelFor(options.threads, chains.count, work, [&](int64_t chain) {
    const std::span<const int32_t> sites = free.of(chain);
    if (sites.empty()) return;
    ++moving_chains;
    float* state = chains.state(chain).data();
    const double beta = chains.betas[chain];
    int64_t own_flips = 0;
    for (int64_t step = 0; step < steps; ++step) {
      RandomStream random(chains.seed, kGibbsPurpose, chains.step + static_cast<uint64_t>(step),
                          chains.first_chain + static_cast<uint64_t>(chain));
      for (int64_t update = 0; update < updates; ++update) {
        const int32_t site = sites[random.Below(static_cast<uint32_t>(sites.size()))];
        double slope = energy.fields()[site];
        for (const auto& [neighbour, coupling] : energy.neighbours(site))
          slope += coupling * state[neighbour];
        const double log_odds = -(beta * slope + (1 - beta) * base_fields[site]);
        const float bit = HeatBath(log_odds, random.Next32()) ? 1.0f : 0.0f;
        if (bit == state[site]) continue;
        const double sign = 2 * bit - 1;
        chains.energies[chain] += sign * slope;
        chains.base_energies[chain] += sign * base_fields[site];
        state[site] = bit;
        ++own_flips;
      }
    }
    flips += own_flips;
  });
  chains.step += static_cast<uint64_t>(steps);
  CountUpdates(chains, moving_chains * steps * updates, flips);
}

}  // namespace ort_ed
