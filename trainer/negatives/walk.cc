// Random walks over the states of ordered and of cyclic variables (arXiv 2412.01019): for a time T each such
// variable jumps to either neighbour at rate 1. The generator of a path of K states, which stays at its ends,
// has the eigenvalues 2 (cos(pi p / K) - 1) with cosines as eigenvectors; that of a ring has
// 2 (cos(2 pi p / K) - 1) with waves. So P = exp(T Q) is a sum over p. It is symmetric, and the recovery is
// the perturbation itself. T is t K^2, so that a walk gets equally far whatever K is. States of other and of
// missing values have no place on the way: they stay.

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

// Row k: P(next <= j | k), for j = 0, 1, ...
using Cumulated = std::vector<double>;

double Step(VariableKind kind, int64_t states, int64_t from, int64_t to, double time) {
  const auto n = static_cast<double>(states);
  double probability = 1 / n;
  for (int64_t p = 1; p < states; ++p) {
    const double angle = std::numbers::pi * static_cast<double>(p) / n;
    const bool ring = kind == VariableKind::kCyclic;
    const double decay = std::exp(2 * time * (std::cos(ring ? 2 * angle : angle) - 1));
    probability += decay / n *
                   (ring ? std::cos(2 * angle * static_cast<double>(from - to))
                         : 2 * std::cos(angle * (static_cast<double>(from) + 0.5)) *
                               std::cos(angle * (static_cast<double>(to) + 0.5)));
  }
  return std::max(0.0, probability);
}

Cumulated Transitions(VariableKind kind, int64_t states, double t) {
  const double time = t * static_cast<double>(states * states);
  Cumulated cumulated;
  for (int64_t from = 0; from < states; ++from) {
    double sum = 0;
    for (int64_t to = 0; to < states; ++to) cumulated.push_back(sum += Step(kind, states, from, to, time));
    for (int64_t to = 0; to < states; ++to) cumulated[static_cast<size_t>(from * states + to)] /= sum;
  }
  return cumulated;
}

template <VariableKind kKind>
class WalkPerturbation final : public Perturbation {
 public:
  struct Options {
    double walk_time = kKind == VariableKind::kCyclic ? 0.005 : 0.01;

    static void Describe(Declare<Options>& declare) {
      declare("walk_time", &Options::walk_time, "(0, 100]",
              "of the walk, as a part of the square of the states");
    }
  };

  WalkPerturbation(const Options& options, const RowContext& rows)
      : time_(options.walk_time), variables_(VariablesOf(rows)) {
    for (int64_t v = 0; variables_.described() && v < variables_.size(); ++v) {
      if (variables_[v].kind != kKind) continue;
      const int64_t states = variables_[v].plain_states();
      walkers_.push_back({v, states});
      if (!transitions_.contains(states)) transitions_[states] = Transitions(kKind, states, time_);
    }
    if (walkers_.empty())
      throw OptionError("method", std::string(ToText(kKind)) + " moves the variables that are " +
                                      ToText(kKind) + ", and there are none; use uniform");
  }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    std::vector<uint8_t> y(positive.begin(), positive.end());
    Walk(random, y);
    for (; !negatives.empty(); negatives = negatives.subspan(y.size())) {
      std::ranges::copy(y, negatives.begin());
      Walk(random, negatives.first(y.size()));
    }
  }

  OptionMap Describe(double) const override { return {{"walk_time", time_}}; }

 private:
  struct Walker {
    int64_t variable, states;
  };

  void Walk(RandomStream& random, std::span<uint8_t> row) const {
    for (const auto& [variable, states] : walkers_) {
      const int64_t from = variables_.State(row.data(), variable);
      if (from >= states) continue;
      const auto begin = transitions_.at(states).begin() + from * states;
      const auto to = std::upper_bound(begin, begin + states - 1, random.UniformDouble());
      variables_.SetState(row.data(), variable, to - begin);
    }
  }

  double time_;
  Variables variables_;
  std::vector<Walker> walkers_;
  std::map<int64_t, Cumulated> transitions_;  // by the number of states
};

}  // namespace

extern const NegativeKind kOrderedNegatives, kCyclicNegatives;
const NegativeKind kOrderedNegatives = PerturbationKind<WalkPerturbation<VariableKind::kOrdered>>(
    "ordered", "ordered variables walk over their states", RowKind::kAny);
const NegativeKind kCyclicNegatives = PerturbationKind<WalkPerturbation<VariableKind::kCyclic>>(
    "cyclic", "cyclic variables walk around their states", RowKind::kAny);

}  // namespace ort_ed
