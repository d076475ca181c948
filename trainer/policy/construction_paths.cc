#include "trainer/policy/construction_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/policy/construction_policy.h"
#include "runtime/support/parallel_for.h"

namespace ort_ed {
namespace {

using namespace construction_policy;

constexpr double kNanosecondsPerLogit = 10;

struct Move {
  uint32_t site = 0;
  uint8_t value = 0;  // of an addition
  double log_probability = 0;
};

// A softmax over those of some logits that are possible.
class Possibilities {
 public:
  template <typename Possible>
  Possibilities(std::span<const float> logits, const Possible& possible) : weights_(logits.size()) {
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < logits.size(); ++i)
      if (possible(i)) largest = std::max(largest, double{logits[i]});
    for (size_t i = 0; i < logits.size(); ++i)
      if (possible(i)) total_ += weights_[i] = std::exp(logits[i] - largest);
  }

  double Log(size_t index) const { return std::log(weights_[index] / total_); }

  size_t Draw(RandomStream& random) const {
    double rest = random.UniformDouble() * total_;
    size_t last = 0;  // that is possible: rounding may leave a rest behind it
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!(weights_[i] > 0)) continue;
      last = i;
      if ((rest -= weights_[i]) < 0) break;
    }
    return last;
  }

 private:
  std::vector<double> weights_;
  double total_ = 0;
};

// A state with what the policy says of it.
class Situation {
 public:
  Situation(std::span<const uint8_t> state, std::span<const float> logits) : state_(state), logits_(logits) {}

  Possibilities Additions() const {
    const size_t d = state_.size();
    return {logits_.first(2 * d), [&](size_t i) { return state_[i % d] == kHole; }};
  }
  Possibilities Removals() const {
    return {logits_.last(state_.size()), [&](size_t i) { return state_[i] != kHole; }};
  }

  Move DrawAddition(RandomStream& random) const {
    const Possibilities additions = Additions();
    const size_t drawn = additions.Draw(random), d = state_.size();
    return {static_cast<uint32_t>(drawn % d), static_cast<uint8_t>(drawn / d), additions.Log(drawn)};
  }
  Move DrawRemoval(RandomStream& random) const {
    const Possibilities removals = Removals();
    const size_t drawn = removals.Draw(random);
    return {static_cast<uint32_t>(drawn), state_[drawn], removals.Log(drawn)};
  }
  double LogAddition(const Move& move) const {
    return Additions().Log(move.value * state_.size() + move.site);
  }
  double LogRemoval(const Move& move) const { return Removals().Log(move.site); }

 private:
  std::span<const uint8_t> state_;
  std::span<const float> logits_;
};

// States of many rows that move together.
class Walkers {
 public:
  Walkers(const PolicyView& policy, std::vector<uint8_t> states)
      : policy_(policy),
        states_(std::move(states)),
        rows_(std::ssize(states_) / policy.dimension),
        logits_(states_.size() * 3) {}

  // One evaluation of the policy for all, then `move` for each: (row, situation, its state).
  template <typename MoveRow>
  void ForEach(const MoveRow& move) {
    const int64_t d = policy_.dimension;
    policy_.logits(states_, logits_);
    const double work = kNanosecondsPerLogit * static_cast<double>(logits_.size());
    ParallelFor(policy_.threads, rows_, work, [&](int64_t row) {
      const std::span<uint8_t> state = std::span(states_).subspan(row * d, d);
      move(row, Situation(state, std::span<const float>(logits_).subspan(row * 3 * d, 3 * d)), state);
    });
  }

  int64_t rows() const { return rows_; }
  std::vector<uint8_t>& states() { return states_; }

 private:
  const PolicyView& policy_;
  std::vector<uint8_t> states_;
  int64_t rows_;
  std::vector<float> logits_;
};

// Looked at one state later, where each step has the one before it to compare with: the moves of a row, and
// how likely it is to go back and forth.
struct Way {
  Move last;
  double log_there = 0, log_back = 0;
};

}  // namespace

ConstructionPaths BuildRows(const PolicyView& policy, std::vector<RandomStream>& random) {
  const int64_t d = policy.dimension;
  ConstructionPaths paths;
  Walkers walkers(policy, std::vector<uint8_t>(random.size() * d, kHole));
  paths.order.resize(random.size() * d);
  for (int64_t t = 0; t < d; ++t)
    walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t> state) {
      const Move move = situation.DrawAddition(random[row]);
      state[move.site] = move.value;
      paths.order[row * d + t] = move.site;
    });
  paths.ends = std::move(walkers.states());
  return paths;
}

ConstructionPaths TakeApart(const PolicyView& policy, std::span<const uint8_t> rows,
                            std::vector<RandomStream>& random) {
  const int64_t d = policy.dimension;
  ConstructionPaths paths{{rows.begin(), rows.end()}, std::vector<uint32_t>(rows.size())};
  Walkers walkers(policy, paths.ends);
  for (int64_t t = d - 1; t >= 0; --t)
    walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t> state) {
      const Move move = situation.DrawRemoval(random[row]);
      state[move.site] = kHole;
      paths.order[row * d + t] = move.site;
    });
  return paths;
}

Reconstruction Reconstruct(const PolicyView& policy, std::span<const uint8_t> rows, int64_t count,
                           std::vector<RandomStream>& random) {
  Walkers walkers(policy, {rows.begin(), rows.end()});
  std::vector<Way> ways(static_cast<size_t>(walkers.rows()));
  for (int64_t t = 0; t < count; ++t)
    walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t> state) {
      Way& way = ways[row];
      if (t > 0) way.log_back += situation.LogAddition(way.last);
      way.last = situation.DrawRemoval(random[row]);
      way.log_there += way.last.log_probability;
      state[way.last.site] = kHole;
    });
  for (int64_t t = 0; t < count; ++t)
    walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t> state) {
      Way& way = ways[row];
      way.log_back += t == 0 ? situation.LogAddition(way.last) : situation.LogRemoval(way.last);
      way.last = situation.DrawAddition(random[row]);
      way.log_there += way.last.log_probability;
      state[way.last.site] = way.last.value;
    });
  walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t>) {
    ways[row].log_back += situation.LogRemoval(ways[row].last);
  });
  Reconstruction result{std::move(walkers.states()), {}};
  for (const Way& way : ways) result.log_ratios.push_back(way.log_back - way.log_there);
  return result;
}

std::vector<double> LogPathRatios(const PolicyView& policy, const ConstructionPaths& paths) {
  const int64_t d = policy.dimension;
  Walkers walkers(policy, std::vector<uint8_t>(paths.ends.size(), kHole));
  std::vector<double> ratios(static_cast<size_t>(walkers.rows()));
  const auto move_at = [&](int64_t row, int64_t t) {
    const uint32_t site = paths.order[row * d + t];
    return Move{site, paths.ends[row * d + site]};
  };
  for (int64_t t = 0; t <= d; ++t)
    walkers.ForEach([&](int64_t row, const Situation& situation, std::span<uint8_t> state) {
      if (t > 0) ratios[row] -= situation.LogRemoval(move_at(row, t - 1));
      if (t == d) return;
      const Move next = move_at(row, t);
      ratios[row] += situation.LogAddition(next);
      state[next.site] = next.value;
    });
  return ratios;
}

std::vector<uint8_t> EncodePaths(const ConstructionPaths& paths, int64_t dimension) {
  const int64_t d = dimension, count = std::ssize(paths.ends) / d;
  std::vector<uint8_t> codes(static_cast<size_t>(count * (d + 1) * d), kHole);
  for (int64_t path = 0; path < count; ++path)
    for (int64_t k = 0; k < d; ++k) {
      const uint32_t site = paths.order[path * d + k];
      const uint8_t value = paths.ends[path * d + site];
      const auto code_at = [&](int64_t t) -> uint8_t& { return codes[(path * (d + 1) + t) * d + site]; };
      code_at(k) = kNextZero + value;
      code_at(k + 1) = kLastZero + value;
      for (int64_t t = k + 2; t <= d; ++t) code_at(t) = value;
    }
  return codes;
}

}  // namespace ort_ed
