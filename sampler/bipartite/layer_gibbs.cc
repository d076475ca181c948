#include "sampler/bipartite/layer_gibbs.h"

#include <cmath>

#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/bipartite/bipartite_units.h"
#include "sampler/bipartite/chain_block.h"

namespace ort_ed {
namespace {

constexpr uint32_t kLayerPurpose = 0x4C415952;  // "LAYR"
constexpr double kNanosecondsPerWeight = 0.3;   // of one update of one chain

double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// One block of chains through its steps.
class BlockLayers {
 public:
  BlockLayers(const BipartiteUnits& units, const EnergyPath& target, const Chains& chains, int64_t block)
      : units_(units),
        form_(units.form()),
        base_(*target.base->independent()),
        chains_(chains),
        block_(chains, block),
        inputs_(static_cast<size_t>(form_.units())),
        hidden_(inputs_.size()) {
    for (int64_t lane = 0; lane < block_.lanes(); ++lane) {
      betas_.lane[lane] = static_cast<float>(Beta(lane));
      if (Beta(lane) != 1) tempered_ = true;
    }
    Look();
  }

  void RunStep(uint64_t step, int64_t updates) {
    random_.clear();
    for (int64_t lane = 0; lane < block_.lanes(); ++lane)
      random_.emplace_back(chains_.seed, kLayerPurpose, step, chains_.first_chain + block_.chain(lane));
    for (int64_t k = 0; k < updates; ++k) Update();
  }

  const StepCounters& counters() const { return counters_; }
  void Store(Chains& chains) const { block_.Store(chains); }

 private:
  double Beta(int64_t lane) const { return chains_.betas[block_.chain(lane)]; }

  // Everything that depends on the variables.
  void Look() {
    for (int64_t j = 0; j < form_.units(); ++j) inputs_[j] = units_.Input(j, block_.x().data());
    if (tempered_)
      for (int64_t lane = 0; lane < block_.lanes(); ++lane) log_ratios_[lane] = LogRatio(lane);
  }

  // log of the target over the distribution that proposals leave invariant, but for a constant.
  double LogRatio(int64_t lane) const {
    const double beta = Beta(lane);
    double sum = 0;
    for (const Lanes& input : inputs_)
      sum += beta * Softplus(input.lane[lane]) - Softplus(beta * input.lane[lane]);
    return sum;
  }

  // Bits that are 1 with probability sigmoid(log_odds), in all lanes; precise for small probabilities of
  // either value.
  Lanes Draw(const Lanes& log_odds) {
    Lanes rare, bits = {};
    for (int64_t lane = 0; lane < kLanes; ++lane) rare.lane[lane] = -std::abs(log_odds.lane[lane]);
    kernels_.sigmoid(rare, rare);
    for (int64_t lane = 0; lane < block_.lanes(); ++lane) {
      const double u = (static_cast<double>(random_[lane].Next32() >> 1) + 0.5) * 0x1.0p-31;
      bits.lane[lane] = (u < rare.lane[lane]) != (log_odds.lane[lane] > 0) ? 1.0f : 0.0f;
    }
    return bits;
  }

  void Update() {
    counters_.acceptances += block_.lanes();  // but for those that are taken back
    for (int64_t j = 0; j < form_.units(); ++j) hidden_[j] = Draw(Tempered(inputs_[j]));
    const std::vector<Lanes> before = block_.x();
    for (int64_t i = 0; i < form_.dimension(); ++i) Redraw(i);
    if (tempered_) {
      const std::vector<Lanes> inputs = inputs_;
      const LogRatios ratios = log_ratios_;
      Look();
      Judge(before, inputs, ratios);
    } else {
      Look();
    }
    Count(before);
  }

  Lanes Tempered(const Lanes& value) const {
    Lanes result;
    for (int64_t lane = 0; lane < kLanes; ++lane) result.lane[lane] = betas_.lane[lane] * value.lane[lane];
    return result;
  }

  void Redraw(int64_t i) {
    Lanes log_odds = units_.Field(i, hidden_.data());
    const auto base = static_cast<float>(base_.fields()[i]);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      log_odds.lane[lane] =
          betas_.lane[lane] * (log_odds.lane[lane] - form_.fields[i]) - (1 - betas_.lane[lane]) * base;
    const Lanes bits = Draw(log_odds);
    for (int64_t lane = 0; lane < block_.lanes(); ++lane)
      if (!chains_.IsClamped(block_.chain(lane), i)) block_.x()[i].lane[lane] = bits.lane[lane];
  }

  using LogRatios = std::array<double, kLanes>;

  // Takes back what is not accepted.
  void Judge(const std::vector<Lanes>& before, const std::vector<Lanes>& inputs, const LogRatios& ratios) {
    for (int64_t lane = 0; lane < block_.lanes(); ++lane) {
      if (Beta(lane) == 1 || std::log(random_[lane].UniformDouble()) < log_ratios_[lane] - ratios[lane])
        continue;
      --counters_.acceptances;
      for (size_t i = 0; i < before.size(); ++i) block_.x()[i].lane[lane] = before[i].lane[lane];
      for (size_t j = 0; j < inputs.size(); ++j) inputs_[j].lane[lane] = inputs[j].lane[lane];
      log_ratios_[lane] = ratios[lane];
    }
  }

  void Count(const std::vector<Lanes>& before) {
    for (int64_t lane = 0; lane < block_.lanes(); ++lane) {
      int64_t distance = 0;
      for (size_t i = 0; i < before.size(); ++i)
        distance += block_.x()[i].lane[lane] != before[i].lane[lane] ? 1 : 0;
      counters_.moves += distance > 0 ? 1 : 0;
      counters_.bits_flipped += distance;
    }
  }

  const BipartiteUnits& units_;
  const BipartiteForm& form_;
  const ProductBase& base_;
  const Chains& chains_;
  const LaneKernels& kernels_ = BestLaneKernels();
  ChainBlock block_;
  Lanes betas_ = {};
  bool tempered_ = false;  // in some lane
  std::vector<Lanes> inputs_, hidden_;
  LogRatios log_ratios_ = {};
  std::vector<RandomStream> random_;  // of each lane
  StepCounters counters_;
};

}  // namespace

void LayerGibbs(const EnergyPath& target, const LayerGibbsOptions& options, Chains& chains, int64_t steps) {
  const uint64_t first_step = chains.step;
  chains.step += static_cast<uint64_t>(steps);
  if (steps == 0) return;
  const int64_t updates = std::max<int64_t>(1, options.updates), moves = chains.count * steps * updates;
  const BipartiteUnits units(*target.bipartite());
  const auto weights = static_cast<double>(target.bipartite()->weights.size());
  const int64_t blocks = CountChainBlocks(chains);
  std::vector<StepCounters> counters(static_cast<size_t>(blocks));
  ParallelFor(options.threads, blocks, static_cast<double>(moves) * weights * kNanosecondsPerWeight,
              [&](int64_t block) {
                BlockLayers layers(units, target, chains, block);
                for (uint64_t step = first_step; step < chains.step; ++step) layers.RunStep(step, updates);
                layers.Store(chains);
                counters[block] = layers.counters();
              });
  target.energy->Energy(chains.states, chains.energies);
  target.base->Energy(chains.states, chains.base_energies);
  chains.counters.energy_evaluations += chains.count;
  chains.counters.proposals += moves;
  for (const StepCounters& of_block : counters) chains.counters += of_block;
}

}  // namespace ort_ed
