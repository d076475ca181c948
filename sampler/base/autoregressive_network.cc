#include "sampler/base/autoregressive_network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/error.h"
#include "sampler/base/check_values.h"
#include "sampler/kinds/gradient_sampler.h"
#include "sampler/kinds/heat_bath.h"

namespace ort_ed {
namespace {

[[noreturn]] void Refuse(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

std::vector<int32_t> CheckOrder(const std::vector<int64_t>& order, const Variables& variables) {
  const auto refuse = [&](const std::string& why) {
    Refuse("the order must name each of the " + std::to_string(variables.size()) +
           " variables once, from 0 on; " + why);
  };
  std::vector<uint8_t> seen(static_cast<size_t>(variables.size()));
  for (const int64_t variable : order) {
    if (variable < 0 || variable >= variables.size() || seen[variable]++ != 0)
      refuse(std::to_string(variable) + " does not fit");
  }
  if (std::ssize(order) != variables.size()) refuse("it names " + std::to_string(order.size()));
  if (order.empty()) Refuse("the order has no variables");
  return {order.begin(), order.end()};
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
    : variables_(tensors.variables.dimension() > 0 ? tensors.variables
                                                   : Variables::Binary(std::ssize(tensors.order))),
      order_(CheckOrder(tensors.order, variables_)) {
  for (const int32_t variable : order_) {
    first_slots_.push_back(std::ssize(bits_));
    for (int64_t bit = 0; bit < variables_.bits(variable); ++bit) {
      bits_.push_back(static_cast<int32_t>(variables_.first_bit(variable) + bit));
      positions_.push_back(static_cast<int32_t>(first_slots_.size()) - 1);
    }
  }
  first_slots_.push_back(std::ssize(bits_));
  ReadTensors(tensors);
}

void AutoregressiveNetwork::ReadTensors(const AutoregressiveTensors& tensors) {
  const int64_t d = dimension();
  const auto same = [](int64_t index) { return index; };
  const auto bit = [&](int64_t slot) { return int64_t{bits_[slot]}; };
  int64_t inputs = d;
  for (size_t k = 0; k < tensors.hidden.size(); ++k) {
    const auto& weight = tensors.hidden[k].weight;
    const auto& bias = tensors.hidden[k].bias;
    const std::string name = "hidden" + std::to_string(k + 1);
    const int64_t units = std::ssize(bias);
    CheckValues(bias, bias.size(), name + ".bias");
    CheckValues(weight, static_cast<size_t>(inputs * units), name + ".weight");
    Layer layer{units, {}, bias, CountFinalUnits(units, positions())};
    const auto seen = [&](int64_t unit) { return InputsSeen(k, UnitDegree(unit, units, positions()) + 1); };
    const auto transposed = [&](const auto& input_at) {
      return Transposed(weight, inputs, units, input_at, same, seen, name + ".weight");
    };
    layer.weight = k == 0 ? transposed(bit) : transposed(same);
    hidden_.push_back(std::move(layer));
    inputs = units;
  }
  if (hidden_.empty()) inputs = 0;
  const auto count = static_cast<size_t>(d);
  CheckValues(tensors.output, static_cast<size_t>(inputs) * count, "output.weight");
  CheckValues(tensors.output_bias, count, "output.bias");
  CheckValues(tensors.direct, count * count, "direct.weight");
  const auto units_before = [&](int64_t slot) { return InputsSeen(hidden_.size(), positions_[slot]); };
  const auto slots_before = [&](int64_t slot) { return first_slots_[positions_[slot]]; };
  output_ = {d, Transposed(tensors.output, inputs, d, same, bit, units_before, "output.weight"), {}, {}};
  for (const int32_t each : bits_) output_.bias.push_back(tensors.output_bias[each]);
  direct_ = Transposed(tensors.direct, d, d, bit, bit, slots_before, "direct.weight");
  if (!tensors.view) return;
  view_.emplace(*tensors.view);
  if (!variables_.all_binary() || view_->pixels() != d)
    Refuse("a view needs an image of as many pixels as there are variables");
}

AutoregressiveNetwork::Block::Block(const AutoregressiveNetwork& network)
    : x(network.dimension()), scores(network.dimension()) {
  for (const Layer& layer : network.hidden_) {
    before.emplace_back(layer.units);
    after.emplace_back(layer.units);
  }
  if (network.view_) view = ViewNetwork::Block(*network.view_);
}

void AutoregressiveNetwork::Load(std::span<const float> row, int64_t lane, Block& block) const {
  for (int64_t slot = 0; slot < dimension(); ++slot) block.x[slot].lane[lane] = row[bits_[slot]];
}

void AutoregressiveNetwork::Store(const Block& block, int64_t lane, std::span<float> row) const {
  for (int64_t slot = 0; slot < dimension(); ++slot) row[bits_[slot]] = block.x[slot].lane[lane];
}

void AutoregressiveNetwork::SkipTo(int64_t position, Block& block) const {
  if (view_) block.first_features = view_->FirstNeeded(position);
}

void AutoregressiveNetwork::FinishUnits(int64_t position, Block& block) const {
  if (view_ && position >= block.first_features) view_->ComputeFeatures(block.x.data(), position, block.view);
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

void AutoregressiveNetwork::ComputeScores(int64_t position, Block& block) const {
  for (int64_t slot = first_slots_[position]; slot < first_slots_[position + 1]; ++slot) {
    Lanes& sum = block.scores[slot];
    std::ranges::fill(sum.lane, output_.bias[slot]);
    kernels_.dot(direct_.data() + slot * dimension(), block.x.data(), first_slots_[position], sum);
    if (view_) view_->AddLogOdds(block.view, sum);
    if (hidden_.empty()) continue;
    const Layer& last = hidden_.back();
    kernels_.dot(output_.weight.data() + slot * last.units, block.after.back().data(),
                 last.final_units[position], sum);
  }
  if (!IsBinary(position)) Normalise(position, block);
}

// Of a variable with more than two states: from log odds to log p.
void AutoregressiveNetwork::Normalise(int64_t position, Block& block) const {
  const auto own = std::span(block.scores)
                       .subspan(static_cast<size_t>(first_slots_[position]),
                                static_cast<size_t>(variables_.bits(order_[position])));
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    double largest = -INFINITY, sum = 0;
    for (const Lanes& score : own) largest = std::max<double>(largest, score.lane[lane]);
    for (const Lanes& score : own) sum += std::exp(score.lane[lane] - largest);
    const double all = largest + std::log(sum);
    for (Lanes& score : own) score.lane[lane] = static_cast<float>(score.lane[lane] - all);
  }
}

double AutoregressiveNetwork::Surprise(int64_t position, int64_t lane, const Block& block) const {
  const int64_t first = first_slots_[position];
  if (IsBinary(position)) {
    const double log_odds = block.scores[first].lane[lane], bit = block.x[first].lane[lane];
    return std::max(log_odds, 0.0) + std::log1p(std::exp(-std::abs(log_odds))) - bit * log_odds;
  }
  double surprise = 0;
  for (int64_t slot = first; slot < first_slots_[position + 1]; ++slot)
    surprise -= double{block.x[slot].lane[lane]} * block.scores[slot].lane[lane];
  return surprise;
}

void AutoregressiveNetwork::Draw(int64_t position, int64_t lane, RandomStream& random, Block& block) const {
  const int64_t first = first_slots_[position], end = first_slots_[position + 1];
  if (IsBinary(position)) {
    block.x[first].lane[lane] = HeatBath(block.scores[first].lane[lane], random.Next32()) ? 1.0f : 0.0f;
    return;
  }
  std::vector<double> shares;
  double total = 0;
  for (int64_t slot = first; slot < end; ++slot) {
    shares.push_back(std::exp(double{block.scores[slot].lane[lane]}));
    total += shares.back();
  }
  const auto state = static_cast<int64_t>(DrawWeighted(shares, total, random));
  for (int64_t slot = first; slot < end; ++slot)
    block.x[slot].lane[lane] = slot - first == state ? 1.0f : 0.0f;
}

// Of a binary variable U0 = softplus(l) - x l: dU0/dl = sigmoid(l) - x, and x itself counts with -l. Of
// another U0 = -sum_k x_k log p_k: dU0/dl_k = p_k - x_k, and x_k itself counts with -log p_k.
std::vector<Lanes> AutoregressiveNetwork::Gradient(const Block& block) const {
  const int64_t d = dimension();
  std::vector<Lanes> slopes(d);
  std::vector<Lanes> pulls(view_ ? d : 0);
  std::vector<std::vector<Lanes>> units;
  for (const Layer& layer : hidden_) units.emplace_back(layer.units);
  for (int64_t slot = 0; slot < d; ++slot) {
    const int64_t position = positions_[slot];
    const Lanes& scores = block.scores[slot];
    Lanes pull;
    kernels_.sigmoid(scores, pull);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      if (!IsBinary(position)) pull.lane[lane] = std::exp(scores.lane[lane]);
      pull.lane[lane] -= block.x[slot].lane[lane];
      slopes[slot].lane[lane] -= scores.lane[lane];
    }
    kernels_.spread(direct_.data() + slot * d, pull, first_slots_[position], slopes.data());
    if (view_) pulls[slot] = pull;
    if (hidden_.empty()) continue;
    kernels_.spread(output_.weight.data() + slot * hidden_.back().units, pull,
                    hidden_.back().final_units[position], units.back().data());
  }
  if (view_) view_->AddGradient(block.x.data(), pulls, slopes);
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
                      InputsSeen(k, UnitDegree(u, layer.units, positions()) + 1), targets);
    }
  }
  return slopes;
}

}  // namespace ort_ed
