#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/energy_function.h"
#include "ort_ed/export.h"
#include "ort_ed/options.h"
#include "ort_ed/sampler.h"

// Estimates of log Z, Z = sum over x of exp(-U(x)).

namespace ort_ed {

struct LogZEstimate {
  std::string method;  // one line, as it stands in a model's metadata
  double log_z = 0;
  double standard_error = 0;
  int64_t samples = 0;           // chains, proposals, or states
  double effective_samples = 0;  // (sum w)^2 / sum w^2
  std::string warning;           // why the estimate is not reliable; empty if nothing speaks against it
};

// The logarithm of the mean of weights that are given as logarithms, with its standard error (delta method).
struct WeightSummary {
  double log_mean = 0;
  double standard_error = 0;
  double effective = 0;
};
ORT_ED_API WeightSummary SummariseLogWeights(std::span<const double> log_weights);

inline constexpr int64_t kMaxExactDimension = 26;  // of binary variables
inline constexpr int64_t kMaxExactStates = int64_t{1} << kMaxExactDimension;
// The states of all variables together; nothing where there are more than kMaxExactStates.
ORT_ED_API std::optional<int64_t> CountStates(const Variables& variables);
// All states. Throws kInvalidArgument for more than kMaxExactStates.
ORT_ED_API LogZEstimate ExactLogZ(const EnergyFunction& energy, const WorkCallback& on_progress = {});

// Importance sampling with independent proposals of the target's base distribution (the paper's estimator
// with a uniform base): Z = E[exp(U0(x) - U(x))].
ORT_ED_API LogZEstimate ImportanceLogZ(const EnergyPath& target, int64_t proposals, uint64_t seed,
                                       const WorkCallback& on_progress = {});

// Where the inverse temperatures of an annealing lie. kAdaptive makes steps of equal length in the metric of
// the path: dense where a short pilot run finds that U0 - U varies much.
enum class Spacing { kLinear, kSigmoid, kAdaptive };

// Throws OptionError listing the candidates: "linear", "sigmoid", "adaptive".
ORT_ED_API Spacing ParseSpacing(const std::string& name);

struct AnnealingOptions {
  int64_t temperatures = 1000;  // K: distributions after the base, the last is the model
  Spacing spacing = Spacing::kLinear;
  Choice sampler = "gibbs";  // of AnnealingSamplerTable(); one step per temperature
  // Former: read where `sampler` has no options, its threads where `threads` is 0. Goes away with the next
  // version.
  SamplerOptions sampler_options;
  int64_t chains = 100;        // of a forward run; a reverse run has one per start
  int64_t chains_at_once = 0;  // the rest wait: memory does not grow with `chains`. 0: chosen by dimension
  uint64_t seed = 0;
  int threads = 0;  // of the work outside the energy function; 0: all cores
  // What the sampler is put into, e.g. to move chains elsewhere; it must leave them as the sampler would.
  std::function<std::unique_ptr<Sampler>(std::unique_ptr<Sampler>)> around = {};

  // Of sampler, temperatures, spacing, chains and threads.
  ORT_ED_API static void Describe(Declare<AnnealingOptions>& declare);
};

// 0 = b_0 < b_1 < ... < b_K = 1. Throws OptionError for options outside their domains.
ORT_ED_API std::vector<double> AnnealingTemperatures(const EnergyPath& target,
                                                     const AnnealingOptions& options);

// Where an annealing stands: plain data that can be stored and restored.
struct AnnealingState {
  std::vector<double> temperatures;
  std::vector<double> log_weights;  // of the chains that are finished
  std::vector<uint8_t> ends;        // the states they finished in
  int64_t moves = 0;                // of the chains under way
  Chains chains;                    // under way; count 0 before the first and after the last
  std::vector<double> partial;      // their log weights so far
  StepCounters counters;            // of the finished chains
};

// Annealed importance sampling (Neal 2001) between the target's base distribution and its model, and its
// mirror image.
//
// Forward: chains start in the base and are annealed to the model. The weights' mean is Z without bias, so
// log Z is underestimated in expectation and likelihoods are overestimated.
//
// Reverse: chains start in given states and are annealed to the base by the reversed kernels. From exact
// samples of the model the mean of 1/w is 1/Z without bias, so log Z is overestimated in expectation. From
// data x (RAISE: Burda, Grosse and Salakhutdinov 2015) exp(-U(x)) / w is an unbiased estimate of the
// probability of x under the distribution that the forward annealing generates, which is not the model's.
//
// So the two err in opposite directions on average, the second as far as its starts are samples of the model.
// No bound follows for a single run: where all chains miss a mode, both miss its share of Z and agree.
class ORT_ED_API Annealing {
 public:
  static Annealing Forward(EnergyPath target, AnnealingOptions options);
  // `starts`: rows of 0 and 1, one chain each.
  static Annealing Reverse(EnergyPath target, AnnealingOptions options, std::vector<float> starts);

  Annealing(Annealing&&) noexcept;
  Annealing& operator=(Annealing&&) noexcept;
  ~Annealing();

  // Work in chain moves.
  int64_t total_work() const;
  int64_t done_work() const;
  bool finished() const;

  // Makes up to `moves` moves of the chains under way.
  void Advance(int64_t moves);
  // Advances to the end.
  void Run(const WorkCallback& on_progress = {});

  const AnnealingState& state() const;
  // Continues where `state`, of an annealing with the same target and options, stood.
  void Restore(AnnealingState state);

  // log w of each finished chain: sum over the path of (b_k - b_{k-1}) (U0 - U).
  std::span<const double> log_weights() const;
  StepCounters counters() const;

  // `count` of the states in which forward chains finished, drawn by weight: approximate samples of the
  // model.
  std::vector<float> Samples(int64_t count) const;

  // From the finished chains. A reverse run estimates log Z under the assumption that it started from the
  // model's samples.
  LogZEstimate Estimate() const;

 private:
  struct Impl;
  explicit Annealing(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ort_ed
