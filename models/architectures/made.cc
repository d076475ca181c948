// A masked autoencoder (Germain et al. 2015) as an energy, U(x) = -log p(x): normalised, so that it is
// trained by maximum likelihood, and a base distribution for other networks (models/base). What the order
// forbids to be connected is 0 in the weights, and a training keeps it there. Several of them, each with an
// order of its own, are mixed with equal weights: p(x) = 1/K sum_k p_k(x).

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "models/architectures/energy_context.h"
#include "models/base/autoregressive.h"
#include "models/graph/model_edits.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

const std::string kRandomOrder = "random";

std::vector<int64_t> MakeOrder(const std::string& text, int64_t variables, Initialiser& initialiser) {
  std::vector<int64_t> order(static_cast<size_t>(variables));
  std::iota(order.begin(), order.end(), 0);
  if (text == "ascending") return order;
  if (text == kRandomOrder) {
    const std::vector<float> keys = initialiser.Uniform(std::vector<int64_t>{variables}, 1);
    std::ranges::stable_sort(order, {}, [&](int64_t variable) { return keys[variable]; });
    return order;
  }
  std::vector<int64_t> given;
  for (const std::string& part : Split(text, ',')) given.push_back(ParseInteger(part).value_or(-1));
  if (!std::ranges::is_permutation(given, order))
    throw OptionError("order", "must be ascending, random, or the numbers 0 to " +
                                   std::to_string(variables - 1) +
                                   " with commas, each once, in the order in which the variables are drawn");
  return given;
}

// The last position that each of `units` sees.
std::vector<int64_t> Degrees(int64_t units, int64_t positions) {
  std::vector<int64_t> degrees;
  for (int64_t unit = 0; unit < units; ++unit) degrees.push_back(UnitDegree(unit, units, positions));
  return degrees;
}

// -log p of a bit is softplus of the log odds of the other value.
Value BinarySurprise(const Value& x, const Value& log_odds) {
  return ReduceSum(Softplus((1.0f - 2.0f * x) * log_odds), {1});
}

// The states of a variable have the probabilities softmax(log_odds) of its bits.
Value CategoricalSurprise(const Value& x, const Value& log_odds, int64_t variables, int64_t states) {
  const std::vector<int64_t> shape = {0, variables, states};
  const Value log_p = Op("LogSoftmax", {Reshape(log_odds, shape)}, {{"axis", int64_t{-1}}});
  return -ReduceSum(Reshape(x, shape) * log_p, {1, 2});
}

// -log p of a row, given the log odds of its bits. Variables with equally many states are taken together.
Value Surprise(const Value& x, const Value& log_odds, const Variables& variables) {
  if (variables.all_binary()) return BinarySurprise(x, log_odds);
  std::map<int64_t, std::vector<int64_t>> bits_by_size;
  for (int64_t bit = 0; bit < variables.dimension(); ++bit)
    bits_by_size[variables.bits(variables.variable_of(bit))].push_back(bit);
  std::vector<Value> parts;
  for (const auto& [size, bits] : bits_by_size) {
    const Value chosen = x.graph->Ints(bits);
    const Value own_x = Op("Gather", {x, chosen}, {{"axis", int64_t{1}}});
    const Value own_log_odds = Op("Gather", {log_odds, chosen}, {{"axis", int64_t{1}}});
    parts.push_back(size == 1 ? BinarySurprise(own_x, own_log_odds)
                              : CategoricalSurprise(own_x, own_log_odds, std::ssize(bits) / size, size));
  }
  return std::accumulate(parts.begin() + 1, parts.end(), parts[0]);
}

// One network, by its number from 0.
class Network {
 public:
  Network(const EnergyContext& context, int64_t number, const std::vector<int64_t>& order)
      : context_(context), number_(number), positions_(static_cast<size_t>(context.dimension)) {
    for (size_t position = 0; position < order.size(); ++position)
      std::fill_n(positions_.begin() + context.variables.first_bit(order[position]),
                  context.variables.bits(order[position]), static_cast<int64_t>(position));
  }

  Value Energy(const MadeOptions& options) {
    Value features = context_.x;
    // An input counts for a unit that sees at least as far, and for a variable that comes later.
    std::vector<int64_t> seen = positions_;
    int64_t layer = 0;
    for (const int64_t units : options.hidden) {
      const std::vector<int64_t> degrees = Degrees(units, context_.variables.size());
      const Value before =
          Dense("hidden" + std::to_string(++layer), features, seen, degrees, /*gap=*/0, /*scale=*/1);
      features = context_.x.graph->Renamed(before * Sigmoid(before), HiddenTensor(number_, layer));
      seen = degrees;
    }
    Value log_odds = MatMul(context_.x, Weight("direct", positions_, positions_, /*gap=*/1, 0.01));
    if (layer > 0) {
      log_odds = log_odds + Dense("output", features, seen, positions_, /*gap=*/1, /*scale=*/0.1);
    } else {
      log_odds = log_odds + Bias("output", context_.dimension);
    }
    if (options.view.active()) log_odds = log_odds + ViewLogOdds(context_, options.view, number_);
    return Surprise(context_.x, log_odds, context_.variables);
  }

 private:
  Value Dense(const std::string& name, const Value& features, const std::vector<int64_t>& from,
              const std::vector<int64_t>& to, int64_t gap, double scale) {
    const Value weight = Weight(name, from, to, gap, scale);
    return Op("Gemm", {features, weight, Bias(name, std::ssize(to))});
  }

  // inputs x outputs; 0 where from + gap > to.
  Value Weight(const std::string& name, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
               int64_t gap, double scale) {
    const std::vector<int64_t> shape = {std::ssize(from), std::ssize(to)};
    const double bound = scale * std::sqrt(6.0 / static_cast<double>(from.size()));
    std::vector<float> values = context_.initialiser.Uniform(shape, bound);
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t o = 0; o < to.size(); ++o)
        if (from[i] + gap > to[o]) values[i * to.size() + o] = 0;
    return context_.x.graph->Parameter(TensorName(name + ".weight"), shape, values);
  }

  Value Bias(const std::string& name, int64_t size) {
    const std::vector<int64_t> shape = {size};
    return context_.x.graph->Parameter(TensorName(name + ".bias"), shape,
                                       context_.initialiser.Fill(shape, 0));
  }

  std::string TensorName(const std::string& name) const {
    return kBaseTensorPrefix + BaseNetworkPrefix(number_) + name;
  }

  const EnergyContext& context_;
  int64_t number_;
  std::vector<int64_t> positions_;  // of each bit: that of its variable in the order
};

// -log of the mean of exp(-energies); the lowest one sets the scale.
Value Mixture(const Value& energies) {
  const Value lowest = Reduce("ReduceMin", energies, std::vector<int64_t>{1}, /*keep_dimensions=*/true);
  return Squeeze(lowest - Log(ReduceMean(Exp(lowest - energies), {1}, /*keep_dimensions=*/true)), {1});
}

std::vector<int64_t> MakeOrder(const EnergyContext& context, const MadeOptions& options, int64_t number) {
  if (options.view.active() && number > 0) return OrderFromCorner(context.image_shape, number);
  return MakeOrder(number == 0 ? options.order : kRandomOrder, context.variables.size(), context.initialiser);
}

Value MadeEnergy(const EnergyContext& context, const MadeOptions& options) {
  GraphBuilder& graph = *context.x.graph;
  std::vector<std::vector<int64_t>> orders;
  std::vector<Value> energies;
  for (int64_t number = 0; number < options.orders; ++number) {
    orders.push_back(MakeOrder(context, options, number));
    energies.push_back(Network(context, number, orders.back()).Energy(options));
  }
  if (options.view.active() && (!std::ranges::is_sorted(orders[0]) || !context.variables.all_binary()))
    throw OptionError("view",
                      "needs pixels that are 0 or 1, in ascending order: it looks at those before each one");
  NoteBase(graph.model(), std::ssize(options.hidden), orders);
  if (energies.size() == 1) return energies[0];
  for (Value& energy : energies) energy = Unsqueeze(energy, {1});
  return Mixture(graph.Renamed(graph.Node("Concat", energies, {{"axis", int64_t{1}}}), kNetworkEnergies));
}

}  // namespace

void MadeOptions::Describe(Declare<MadeOptions>& declare) {
  using Self = MadeOptions;
  declare("hidden", &Self::hidden, "[1, inf)", "widths of the hidden layers, first to last");
  declare("order", &Self::order, "ORDER",
          "ascending, random or a list of numbers with commas: each variable depends on those before it");
  declare("orders", &Self::orders, "[1, 100]",
          "networks in the mixture, each further one in a random order of its own, or with `view` from "
          "another corner of the image");
  declare.All(&Self::view);
}

extern const ArchitectureKind kMadeArchitecture = MakeArchitecture<MadeOptions, MadeEnergy>(
    "made", "masked autoencoder: normalised, trained by maximum likelihood");

}  // namespace ort_ed
