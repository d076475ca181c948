#include "sampler/base/autoregressive_network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

[[noreturn]] void Refuse(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

std::vector<int32_t> CheckOrder(const std::vector<int64_t>& order) {
  std::vector<uint8_t> seen(order.size());
  for (const int64_t variable : order) {
    if (variable < 0 || variable >= std::ssize(order) || seen[variable]++ != 0)
      Refuse("the order must name each of the " + std::to_string(order.size()) +
             " variables once, from 0 on; " + std::to_string(variable) + " does not fit");
  }
  if (order.empty()) Refuse("the order has no variables");
  return {order.begin(), order.end()};
}

void CheckValues(const std::vector<float>& values, size_t count, const std::string& name) {
  if (values.size() != count)
    Refuse("'" + name + "' has " + std::to_string(values.size()) + " values instead of " +
           std::to_string(count));
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    Refuse("'" + name + "' has values that are not finite");
}

// A matrix inputs x outputs the other way round, rows and columns renumbered. What an output must not see has
// to be 0, so that each variable depends on earlier ones only.
template <typename From, typename To, typename Seen>
std::vector<float> Transposed(const std::vector<float>& weight, int64_t inputs, int64_t outputs,
                              const From& input_at, const To& output_at, const Seen& seen,
                              const std::string& name) {
  std::vector<float> result(weight.size());
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t allowed = seen(o);
    for (int64_t i = 0; i < inputs; ++i) {
      const float value = weight[input_at(i) * outputs + output_at(o)];
      if (i >= allowed && value != 0)
        Refuse("'" + name + "' connects a variable with later ones (entry " + std::to_string(input_at(i)) +
               ", " + std::to_string(output_at(o)) + " is not 0): such a network is not normalised");
      result[o * inputs + i] = value;
    }
  }
  return result;
}

std::vector<int64_t> CountFinalUnits(int64_t units, int64_t dimension) {
  std::vector<int64_t> counts(dimension + 1);
  int64_t unit = 0;
  for (int64_t position = 0; position <= dimension; ++position) {
    while (unit < units && UnitDegree(unit, units, dimension) < position) ++unit;
    counts[position] = unit;
  }
  return counts;
}

}  // namespace

AutoregressiveNetwork::AutoregressiveNetwork(const AutoregressiveTensors& tensors)
    : order_(CheckOrder(tensors.order)) {
  const int64_t d = dimension();
  const auto same = [](int64_t index) { return index; };
  const auto variable = [&](int64_t position) { return int64_t{order_[position]}; };
  int64_t inputs = d;
  for (size_t k = 0; k < tensors.hidden.size(); ++k) {
    const auto& [weight, bias] = tensors.hidden[k];
    const std::string name = "hidden" + std::to_string(k + 1);
    const int64_t units = std::ssize(bias);
    CheckValues(bias, bias.size(), name + ".bias");
    CheckValues(weight, static_cast<size_t>(inputs * units), name + ".weight");
    Layer layer{units, {}, bias, CountFinalUnits(units, d)};
    const auto seen = [&](int64_t unit) { return InputsSeen(k, UnitDegree(unit, units, d) + 1); };
    const auto transposed = [&](const auto& input_at) {
      return Transposed(weight, inputs, units, input_at, same, seen, name + ".weight");
    };
    layer.weight = k == 0 ? transposed(variable) : transposed(same);
    hidden_.push_back(std::move(layer));
    inputs = units;
  }
  if (hidden_.empty()) inputs = 0;
  const auto count = static_cast<size_t>(d);
  CheckValues(tensors.output, static_cast<size_t>(inputs) * count, "output.weight");
  CheckValues(tensors.output_bias, count, "output.bias");
  CheckValues(tensors.direct, count * count, "direct.weight");
  const auto units_before = [&](int64_t position) { return InputsSeen(hidden_.size(), position); };
  output_ = {d, Transposed(tensors.output, inputs, d, same, variable, units_before, "output.weight"), {}, {}};
  for (const int32_t v : order_) output_.bias.push_back(tensors.output_bias[v]);
  direct_ = Transposed(tensors.direct, d, d, variable, variable, same, "direct.weight");
  if (!tensors.window) return;
  window_.emplace(*tensors.window);
  if (window_->pixels() != d || !std::ranges::is_sorted(order_))
    Refuse("a window needs an image of as many pixels as there are variables, in ascending order");
}

AutoregressiveNetwork::Block::Block(const AutoregressiveNetwork& network)
    : x(network.dimension()), log_odds(network.dimension()) {
  for (const Layer& layer : network.hidden_) {
    before.emplace_back(layer.units);
    after.emplace_back(layer.units);
  }
  if (network.window_) window = WindowNetwork::Block(*network.window_);
}

void AutoregressiveNetwork::Load(std::span<const float> row, int64_t lane, Block& block) const {
  for (int64_t position = 0; position < dimension(); ++position)
    block.x[position].lane[lane] = row[order_[position]];
}

void AutoregressiveNetwork::Store(const Block& block, int64_t lane, std::span<float> row) const {
  for (int64_t position = 0; position < dimension(); ++position)
    row[order_[position]] = block.x[position].lane[lane];
}

void AutoregressiveNetwork::SkipTo(int64_t position, Block& block) const {
  if (window_) block.first_features = window_->FirstNeeded(position);
}

void AutoregressiveNetwork::FinishUnits(int64_t position, Block& block) const {
  if (window_ && position >= block.first_features)
    window_->ComputeFeatures(block.x.data(), position, block.window);
  if (position == 0) return;
  int64_t inputs = dimension();
  for (size_t k = 0; k < hidden_.size(); ++k) {
    const Layer& layer = hidden_[k];
    for (int64_t u = layer.final_units[position - 1]; u < layer.final_units[position]; ++u) {
      Lanes& sum = block.before[k][u];
      std::ranges::fill(sum.lane, layer.bias[u]);
      kernels_.dot(layer.weight.data() + u * inputs, Inputs(block, k), InputsSeen(k, position), sum);
      Lanes& unit = block.after[k][u];
      kernels_.sigmoid(sum, unit);
      for (int64_t lane = 0; lane < kLanes; ++lane) unit.lane[lane] *= sum.lane[lane];
    }
    inputs = layer.units;
  }
}

void AutoregressiveNetwork::ComputeLogOdds(int64_t position, Block& block) const {
  Lanes& sum = block.log_odds[position];
  std::ranges::fill(sum.lane, output_.bias[position]);
  kernels_.dot(direct_.data() + position * dimension(), block.x.data(), position, sum);
  if (window_) window_->AddLogOdds(block.window, sum);
  if (hidden_.empty()) return;
  const Layer& last = hidden_.back();
  kernels_.dot(output_.weight.data() + position * last.units, block.after.back().data(),
               last.final_units[position], sum);
}

// With U0 = sum_p softplus(l_p) - x_p l_p: dU0/dl_p = sigmoid(l_p) - x_p, and x_p itself counts with -l_p.
std::vector<Lanes> AutoregressiveNetwork::Gradient(const Block& block) const {
  const int64_t d = dimension();
  std::vector<Lanes> slopes(d);
  std::vector<Lanes> pulls(window_ ? d : 0);
  std::vector<std::vector<Lanes>> units;
  for (const Layer& layer : hidden_) units.emplace_back(layer.units);
  for (int64_t p = 0; p < d; ++p) {
    Lanes pull;
    kernels_.sigmoid(block.log_odds[p], pull);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      pull.lane[lane] -= block.x[p].lane[lane];
      slopes[p].lane[lane] -= block.log_odds[p].lane[lane];
    }
    kernels_.spread(direct_.data() + p * d, pull, p, slopes.data());
    if (window_) pulls[p] = pull;
    if (hidden_.empty()) continue;
    kernels_.spread(output_.weight.data() + p * hidden_.back().units, pull, hidden_.back().final_units[p],
                    units.back().data());
  }
  if (window_) window_->AddGradient(block.x.data(), pulls, slopes);
  for (size_t k = hidden_.size(); k-- > 0;) {
    const Layer& layer = hidden_[k];
    const int64_t inputs = k == 0 ? d : hidden_[k - 1].units;
    Lanes* const targets = k == 0 ? slopes.data() : units[k - 1].data();
    for (int64_t u = 0; u < layer.units; ++u) {
      Lanes pull = units[k][u], s;
      kernels_.sigmoid(block.before[k][u], s);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        pull.lane[lane] *= s.lane[lane] * (1 + block.before[k][u].lane[lane] * (1 - s.lane[lane]));
      kernels_.spread(layer.weight.data() + u * inputs, pull,
                      InputsSeen(k, UnitDegree(u, layer.units, d) + 1), targets);
    }
  }
  return slopes;
}

}  // namespace ort_ed
