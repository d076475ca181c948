#include <algorithm>
#include <cmath>
#include <utility>

#include "ort_ed/error.h"
#include "ort_ed/log_z.h"
#include "ort_ed/random.h"
#include "sampler/log_z/annealing_options.h"
#include "sampler/log_z/reliability.h"

namespace ort_ed {
namespace {

constexpr uint32_t kReversePurpose = 0x52564953;   // "RVIS"
constexpr uint32_t kResamplePurpose = 0x52534D50;  // "RSMP"

enum class Direction { kForward, kReverse };

int64_t ChainsAtOnce(int64_t requested, int64_t dimension) {
  constexpr int64_t kValues = int64_t{1} << 21;  // 8 MiB of states
  if (requested > 0) return requested;
  return std::clamp<int64_t>(kValues / dimension, 64, 4096);
}

}  // namespace

struct Annealing::Impl {
  Impl(EnergyPath target_, AnnealingOptions options_, Direction direction_, std::vector<float> starts_)
      : target(std::move(target_)),
        options(std::move(options_)),
        direction(direction_),
        starts(std::move(starts_)) {
    const bool reverse = direction == Direction::kReverse;
    if (reverse) options.chains = static_cast<int64_t>(starts.size()) / target.dimension();
    if (reverse && options.chains < 1)
      throw Error(ErrorCode::kInvalidArgument, "a reverse annealing takes at least one start");
    at_once = ChainsAtOnce(options.chains_at_once, target.dimension());
    // Before the seed changes: the reverse goes back through the temperatures of the forward annealing.
    state.temperatures = AnnealingTemperatures(target, options);
    if (reverse) options.seed = RandomStream(options.seed, kReversePurpose, 0, 0).Next64();
  }

  int64_t steps() const { return static_cast<int64_t>(state.temperatures.size()) - 1; }
  int64_t finished_chains() const { return static_cast<int64_t>(state.log_weights.size()); }
  bool finished() const { return finished_chains() == options.chains; }

  // Whether the state can be one of this annealing: it may come from anywhere.
  bool CanContinue(const AnnealingState& other) const {
    const Chains& chains = other.chains;
    const int64_t done = std::ssize(other.log_weights), dimension = target.dimension();
    if (other.temperatures != state.temperatures || done > options.chains ||
        std::ssize(other.ends) != done * dimension || std::ssize(other.partial) != chains.count)
      return false;
    if (chains.count == 0) return other.moves == 0;
    return chains.count > 0 && chains.count <= options.chains - done && chains.dimension == dimension &&
           chains.first_chain == static_cast<uint64_t>(done) && other.moves >= 0 && other.moves < steps() &&
           std::ssize(chains.states) == chains.count * dimension && AreStates(chains.states) &&
           std::ssize(chains.energies) == chains.count && std::ssize(chains.base_energies) == chains.count &&
           std::ssize(chains.betas) == chains.count;
  }

  bool AreStates(std::span<const float> rows) const {
    const Variables variables = target.variables();
    const int64_t dimension = variables.dimension();
    for (int64_t begin = 0; !variables.all_binary() && begin < std::ssize(rows); begin += dimension)
      if (variables.FindBroken(rows.subspan(begin, dimension))) return false;
    return std::ranges::all_of(rows, [](float v) { return v == 0.0f || v == 1.0f; });
  }

  void StartBatch() {
    const int64_t first = finished_chains();
    const int64_t count = std::min(at_once, options.chains - first);
    if (direction == Direction::kForward) {
      state.chains = StartChains(target, count, options.seed, first);
    } else {
      const auto begin = starts.begin() + first * target.dimension();
      state.chains = StartChainsAt(target, std::vector<float>(begin, begin + count * target.dimension()),
                                   options.seed, first);
    }
    state.partial.assign(count, 0.0);
    state.moves = 0;
  }

  void FinishBatch() {
    state.log_weights.insert(state.log_weights.end(), state.partial.begin(), state.partial.end());
    state.ends.insert(state.ends.end(), state.chains.states.begin(), state.chains.states.end());
    state.counters += state.chains.counters;
    state.chains = {};
    state.partial.clear();
    state.moves = 0;
  }

  // From temperature k - 1 to k, or in reverse.
  void AddIncrement(int64_t k) {
    const double step = state.temperatures[k] - state.temperatures[k - 1];
    for (int64_t chain = 0; chain < state.chains.count; ++chain)
      state.partial[chain] += step * (state.chains.base_energies[chain] - state.chains.energies[chain]);
  }

  void Move() {
    if (direction == Direction::kForward) {
      const int64_t k = state.moves + 1;
      AddIncrement(k);
      state.chains.betas.assign(state.chains.count, state.temperatures[k]);
      sampler->Step(state.chains, 1);
    } else {
      const int64_t k = steps() - state.moves;
      state.chains.betas.assign(state.chains.count, state.temperatures[k]);
      sampler->StepReversed(state.chains, 1);
      AddIncrement(k);
    }
    ++state.moves;
  }

  void Advance(int64_t moves) {
    if (!sampler) sampler = MakeAnnealingSampler(target, options);
    for (; moves > 0 && !finished(); --moves) {
      if (state.chains.count == 0) StartBatch();
      Move();
      if (state.moves == steps()) FinishBatch();
    }
  }

  EnergyPath target;
  AnnealingOptions options;
  Direction direction;
  std::vector<float> starts;
  int64_t at_once = 0;
  AnnealingState state;
  std::unique_ptr<Sampler> sampler;
};

Annealing Annealing::Forward(EnergyPath target, AnnealingOptions options) {
  return Annealing(std::make_unique<Impl>(std::move(target), std::move(options), Direction::kForward,
                                          std::vector<float>()));
}

Annealing Annealing::Reverse(EnergyPath target, AnnealingOptions options, std::vector<float> starts) {
  return Annealing(
      std::make_unique<Impl>(std::move(target), std::move(options), Direction::kReverse, std::move(starts)));
}

Annealing::Annealing(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Annealing::Annealing(Annealing&&) noexcept = default;
Annealing& Annealing::operator=(Annealing&&) noexcept = default;
Annealing::~Annealing() = default;

int64_t Annealing::total_work() const { return impl_->options.chains * impl_->steps(); }
int64_t Annealing::done_work() const {
  return impl_->finished_chains() * impl_->steps() + impl_->state.chains.count * impl_->state.moves;
}
bool Annealing::finished() const { return impl_->finished(); }
void Annealing::Advance(int64_t moves) { impl_->Advance(moves); }

void Annealing::Run(const WorkCallback& on_progress) {
  while (!finished()) {
    Advance(1);
    if (on_progress) on_progress(done_work(), total_work());
  }
}

const AnnealingState& Annealing::state() const { return impl_->state; }

void Annealing::Restore(AnnealingState state) {
  if (!impl_->CanContinue(state)) {
    throw Error(ErrorCode::kInvalidArgument, "the stored state belongs to an annealing with other options");
  }
  impl_->state = std::move(state);
}

std::span<const double> Annealing::log_weights() const { return impl_->state.log_weights; }

StepCounters Annealing::counters() const {
  StepCounters counters = impl_->state.counters;
  return counters += impl_->state.chains.counters;
}

std::vector<float> Annealing::Samples(int64_t count) const {
  const std::vector<double>& log_weights = impl_->state.log_weights;
  if (log_weights.empty())
    throw Error(ErrorCode::kInvalidArgument, "no chain has finished; there are no samples");
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double total = 0;
  for (double log_weight : log_weights) total += std::exp(log_weight - largest);
  const int64_t dimension = impl_->target.dimension();
  std::vector<float> rows;
  rows.reserve(count * dimension);
  // Systematic resampling: equidistant points with one random offset.
  double point = RandomStream(impl_->options.seed, kResamplePurpose, 0, 0).UniformDouble();
  double sum = 0;
  for (size_t chain = 0; chain < log_weights.size(); ++chain) {
    sum += std::exp(log_weights[chain] - largest) / total * static_cast<double>(count);
    const bool last = chain + 1 == log_weights.size();
    for (; std::ssize(rows) < count * dimension && (last || point < sum); ++point) {
      const auto end = impl_->state.ends.begin() + static_cast<int64_t>(chain) * dimension;
      rows.insert(rows.end(), end, end + dimension);
    }
  }
  return rows;
}

LogZEstimate Annealing::Estimate() const {
  const bool reverse = impl_->direction == Direction::kReverse;
  std::vector<double> log_weights = impl_->state.log_weights;
  if (reverse)
    for (double& log_weight : log_weights) log_weight = -log_weight;
  const WeightSummary summary = SummariseLogWeights(log_weights);
  LogZEstimate estimate;
  estimate.samples = static_cast<int64_t>(log_weights.size());
  estimate.method = std::string(reverse ? "reverse ais" : "ais") + ", " + impl_->options.sampler.kind + ", " +
                    std::to_string(impl_->steps()) + " temperatures, " + std::to_string(estimate.samples) +
                    " chains";
  estimate.log_z = reverse ? -summary.log_mean : summary.log_mean;
  estimate.standard_error = summary.standard_error;
  estimate.effective_samples = summary.effective;
  estimate.warning =
      WhyUnreliable(summary, estimate.samples, "chains", "take more temperatures, then more chains");
  return estimate;
}

}  // namespace ort_ed
