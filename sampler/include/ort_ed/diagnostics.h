#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/chains.h"
#include "ort_ed/export.h"

namespace ort_ed {

// Of one quantity followed in several chains: trace[chain * length + t], every chain equally long. As in
// Vehtari et al. (2021): chains are split into halves; autocorrelations of all chains are pooled and summed
// while their sums over pairs of lags stay positive and fall (Geyer 1992). Not a number where there is
// nothing to say: fewer than 4 draws per chain, or a quantity that never changes or is not finite somewhere.
//
// For the mean of the quantity itself; for its middle, by normal scores of its ranks, whatever its tails; and
// the smaller of those for its quantiles 5 % and 95 %.
ORT_ED_API double EffectiveSampleSize(std::span<const double> trace, int64_t chains);
ORT_ED_API double BulkEffectiveSampleSize(std::span<const double> trace, int64_t chains);
ORT_ED_API double TailEffectiveSampleSize(std::span<const double> trace, int64_t chains);
// Infinite where every chain stays at another value. RankRHat: the larger one of the normal scores of the
// ranks of the quantity and of its distance from the median, which also sees chains that differ in spread.
ORT_ED_API double SplitRHat(std::span<const double> trace, int64_t chains);
ORT_ED_API double RankRHat(std::span<const double> trace, int64_t chains);

struct Diagnostics {
  int64_t chains = 0;
  int64_t draws = 0;           // recorded of each chain
  double acceptance_rate = 0;  // of proposals; 1 of a sampler that rejects none, such as gibbs
  double move_rate = 0;        // proposals after which the state was another one
  double swap_rate = 0;        // tempering: of exchanges; else not a number
  double jump_distance = 0;    // variables that changed between consecutive records, on average

  // Of the energy (bulk and tail size, R-hat of ranks); and of the variables the worst, each by the bit that
  // varies most. Sizes are those of all chains together, as far as records tell: of chains that forget faster
  // than they are recorded, a lower bound. R-hat is not a number where chains keep different values, since
  // they then need not agree; sizes are then sums over chains.
  double energy_ess = 0;
  double energy_tail_ess = 0;
  double energy_r_hat = 0;
  double coordinate_ess = 0;
  double coordinate_r_hat = 0;

  double seconds = 0;
  int64_t energy_evaluations = 0;
  double ess_per_second = 0;  // of the energy
  double ess_per_evaluation = 0;
  int64_t worst_variable = -1;  // that of coordinate_r_hat; -1: not known
};

// Follows a run: constant memory, however many draws and chains. Records some of the chains, and of a long
// run every second, fourth, ... draw; of the energies many more than of the states.
class ORT_ED_API TraceRecorder {
 public:
  static constexpr int64_t kMaxChains = 32;
  static constexpr int64_t kMaxDraws = 512, kMaxEnergies = 4096;

  TraceRecorder() = default;  // every bit is a variable
  explicit TraceRecorder(const Variables& variables) : variables_(variables) {}

  // Called at equal distances, e.g. after every step.
  void Record(const Chains& chains);

  // `spent`: what the recorded steps cost.
  Diagnostics Summarise(const StepCounters& spent, double seconds) const;

 private:
  // What is kept of one kind: every `interval` calls, at most `most` records.
  template <typename Value>
  struct Records {
    int64_t most;
    int64_t interval = 1;
    std::vector<std::vector<Value>> values{};

    void Add(int64_t call, std::vector<Value> record);
  };

  template <typename Kept, typename Value>
  std::vector<double> Trace(const Kept& records, const Value& value) const;
  double SizeOfAll(const std::vector<double>& trace, double (*size)(std::span<const double>, int64_t)) const;
  void DiagnoseVariables(Diagnostics& result) const;

  Variables AllVariables() const;
  int64_t MostVaryingBit(const Variables& variables, int64_t variable) const;
  double CountChanges(const std::vector<uint8_t>& states) const;

  Variables variables_;
  int64_t all_chains_ = 0;
  int64_t chains_ = 0;
  int64_t dimension_ = 0;
  int64_t calls_ = 0;
  bool one_law_ = true;  // of all chains: what is kept does not differ
  double distance_ = 0;  // summed over calls and chains
  std::vector<uint8_t> last_;
  Records<uint8_t> states_{kMaxDraws};      // chains_ x dimension_
  Records<double> energies_{kMaxEnergies};  // chains_
};

}  // namespace ort_ed
