#include "trainer/policy/edit_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace ort_ed {
namespace {

constexpr int64_t kWaysAtOnce = 4096;  // more gain nothing, and take memory

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double LogSigmoid(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

bool IsIn(uint32_t site, std::span<const uint32_t> edits) {
  return std::ranges::find(edits, site) != edits.end();
}

// Logits of what is possible, the softmax of which is drawn from.
uint32_t DrawEdit(RandomStream& random, std::span<const float> logits, const Edits& edits) {
  std::vector<double> weights(logits.size());
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!IsIn(static_cast<uint32_t>(i), edits)) largest = std::max(largest, double{logits[i]});
  for (size_t i = 0; i < logits.size(); ++i)
    if (!IsIn(static_cast<uint32_t>(i), edits)) total += weights[i] = std::exp(logits[i] - largest);
  double rest = random.UniformDouble() * total;
  uint32_t last = 0;  // that is possible: rounding may leave a rest behind it
  for (size_t i = 0; i < weights.size(); ++i) {
    if (IsIn(static_cast<uint32_t>(i), edits)) continue;
    last = static_cast<uint32_t>(i);
    if ((rest -= weights[i]) < 0) break;
  }
  return last;
}

// The logarithm of the probability of making the edit `next` after those before.
double LogEdit(std::span<const float> logits, std::span<const uint32_t> before, uint32_t next) {
  std::vector<double> possible;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!IsIn(static_cast<uint32_t>(i), before)) possible.push_back(logits[i]);
  return logits[next] - LogSumExp(possible);
}

void Flip(float& bit) { bit = 1 - bit; }

// Some ways, from their starts to their ends.
class Retracing {
 public:
  Retracing(const EditView& view, const EditedRows& ways, int64_t first, int64_t count)
      : view_(view), edits_(std::span(ways.edits).subspan(first, count)), result_(edits_.size()) {
    const int64_t d = view.dimension;
    states_.assign(ways.rows.begin() + first * d, ways.rows.begin() + (first + count) * d);
    for (size_t way = 0; way < edits_.size(); ++way)
      for (const uint32_t site : edits_[way]) Flip(states_[way * d + site]);
  }

  std::vector<double> LogRatios() {
    AddStarts();
    const auto longest = std::ranges::max_element(edits_, {}, &Edits::size)->size();
    for (size_t k = 0; k <= longest && std::cmp_less(k, view_.max_edits); ++k) AddDecisions(k);
    for (size_t way = 0; way < edits_.size(); ++way)
      result_[way] -= LogTraceBack(view_.dimension, view_.max_edits, std::ssize(edits_[way]));
    return result_;
  }

 private:
  void AddStarts() {
    std::vector<float> log_odds(states_.size());
    view_.log_odds(states_, log_odds);
    for (size_t i = 0; i < states_.size(); ++i)
      result_[i / view_.dimension] += LogSigmoid(states_[i] > 0 ? log_odds[i] : -log_odds[i]);
  }

  // Of the ways with as many edits or more.
  void AddDecisions(size_t k) {
    const size_t d = view_.dimension;
    std::vector<size_t> going_on;
    std::vector<float> states;
    for (size_t way = 0; way < edits_.size(); ++way) {
      if (edits_[way].size() < k) continue;
      going_on.push_back(way);
      states.insert(states.end(), states_.begin() + way * d, states_.begin() + (way + 1) * d);
    }
    std::vector<float> logits(going_on.size() * (d + 1));
    view_.edits(states, logits);
    for (size_t i = 0; i < going_on.size(); ++i) {
      const size_t way = going_on[i];
      const auto own = std::span<const float>(logits).subspan(i * (d + 1), d + 1);
      const bool stops = edits_[way].size() == k;
      result_[way] += LogSigmoid(stops ? own[d] : -own[d]);
      if (stops) continue;
      const uint32_t next = edits_[way][k];
      result_[way] += LogEdit(own.first(d), std::span(edits_[way]).first(k), next);
      Flip(states_[way * d + next]);
    }
  }

  const EditView& view_;
  std::span<const Edits> edits_;
  std::vector<double> result_;
  std::vector<float> states_;
};

}  // namespace

double LogSumExp(std::span<const double> values) {
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

EditedRows DrawEditedRows(const EditView& view, std::vector<RandomStream>& random) {
  const int64_t d = view.dimension, count = std::ssize(random);
  std::vector<float> rows(static_cast<size_t>(count * d)), log_odds(rows.size());
  for (int64_t i = 0; i < d; ++i) {
    view.log_odds(rows, log_odds);
    for (int64_t row = 0; row < count; ++row)
      rows[row * d + i] = random[row].UniformDouble() < Sigmoid(log_odds[row * d + i]) ? 1 : 0;
  }
  std::vector<float> logits(static_cast<size_t>(count * (d + 1)));
  std::vector<Edits> edits(static_cast<size_t>(count));
  std::vector<uint8_t> stopped(static_cast<size_t>(count));
  for (int64_t k = 0; k < view.max_edits && std::ranges::count(stopped, 0) > 0; ++k) {
    view.edits(rows, logits);
    for (int64_t row = 0; row < count; ++row) {
      if (stopped[row]) continue;
      const auto own = std::span<const float>(logits).subspan(row * (d + 1), d + 1);
      stopped[row] = random[row].UniformDouble() < Sigmoid(own[d]);
      if (stopped[row]) continue;
      edits[row].push_back(DrawEdit(random[row], own.first(d), edits[row]));
      Flip(rows[row * d + edits[row].back()]);
    }
  }
  return {{rows.begin(), rows.end()}, std::move(edits)};
}

Edits TraceBack(int64_t dimension, int64_t max_edits, RandomStream& random) {
  Edits sites(static_cast<size_t>(dimension));
  std::iota(sites.begin(), sites.end(), 0u);
  int64_t edits = 0;
  for (; edits < max_edits && random.UniformDouble() < 0.5; ++edits)
    std::swap(sites[edits], sites[edits + random.Below(static_cast<uint32_t>(dimension - edits))]);
  sites.resize(static_cast<size_t>(edits));
  return sites;
}

double LogTraceBack(int64_t dimension, int64_t max_edits, int64_t edits) {
  double log_probability = 0;
  for (int64_t k = 0; k < edits; ++k)
    log_probability -= std::numbers::ln2 + std::log(static_cast<double>(dimension - k));
  return edits < max_edits ? log_probability - std::numbers::ln2 : log_probability;
}

std::vector<double> LogWayRatios(const EditView& view, const EditedRows& ways) {
  const int64_t count = std::ssize(ways.edits);
  std::vector<double> ratios;
  for (int64_t first = 0; first < count; first += kWaysAtOnce) {
    const std::vector<double> some =
        Retracing(view, ways, first, std::min(kWaysAtOnce, count - first)).LogRatios();
    ratios.insert(ratios.end(), some.begin(), some.end());
  }
  return ratios;
}

}  // namespace ort_ed
