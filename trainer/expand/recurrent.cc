// RNN, GRU and LSTM, step by step. Sequences have one length, which is known.
#include <algorithm>
#include <array>

#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

using Values = std::vector<Value>;

constexpr int64_t kMostSteps = 4096;

Value Row(const Value& x, int64_t i) { return Op("Gather", {x, x.graph->IntScalar(i)}); }

Values Parts(const Value& x, int64_t count, int64_t size, int64_t axis) {
  const std::vector<int64_t> sizes(count, size);
  return x.graph->NodeWithOutputs("Split", std::vector{x, x.graph->Ints(sizes)}, static_cast<int>(count),
                                  {{"axis", axis}});
}

// What all directions have in common; `gates` and `states` are those of the operator.
struct Layer {
  const GradContext& node;
  int64_t gates, states;
  int64_t steps = 0, hidden = 0, directions = 1;
  std::vector<std::string> activations = {};  // of all directions, one after the other

  Value Activated(const Value& x, int64_t direction, int64_t i) const {
    const auto each = std::ssize(activations) / directions;
    return Op(activations[direction * each + i], {x});
  }
};

// The numbers of one direction.
struct Cell {
  const Layer& layer;
  int64_t direction;
  Value recurrence;  // [hidden, gates x hidden]
  Value bias = {};   // of the recurrence, for all gates; without a name where there are no biases
  Values peepholes = {};

  Value Activated(const Value& x, int64_t i) const { return layer.Activated(x, direction, i); }
};

// x: what the input brings to all gates, with its bias. state: h, and c of LSTM.
using Step = Values (*)(const Cell& cell, const Value& x, const Values& state);

// What the last state brings to all gates, with its bias.
Value Recurred(const Cell& cell, const Value& h) {
  const Value product = MatMul(h, cell.recurrence);
  return cell.bias.name.empty() ? product : product + cell.bias;
}

Values RnnStep(const Cell& cell, const Value& x, const Values& state) {
  return {cell.Activated(x + Recurred(cell, state[0]), 0)};
}

// The first gates, which are treated alike, and the last.
Values FirstAndLast(const Layer& layer, const Value& gates) {
  const std::vector<int64_t> sizes = {(layer.gates - 1) * layer.hidden, layer.hidden};
  return gates.graph->NodeWithOutputs("Split", std::vector{gates, gates.graph->Ints(sizes)}, 2,
                                      {{"axis", int64_t{1}}});
}

// Gates z, r and h.
Values GruStep(const Cell& cell, const Value& x, const Values& state) {
  const Layer& layer = cell.layer;
  const Value h = state[0];
  const Values brought = FirstAndLast(layer, x), recurred = FirstAndLast(layer, Recurred(cell, h));
  const Values gates = Parts(cell.Activated(brought[0] + recurred[0], 0), 2, layer.hidden, 1);
  const Value update = gates[0], reset = gates[1];
  const bool late_reset = layer.node.Int("linear_before_reset", 0) != 0;
  const Value last = late_reset ? reset * recurred[1] : FirstAndLast(layer, Recurred(cell, reset * h))[1];
  const Value hidden = cell.Activated(brought[1] + last, 1);
  return {(1 - update) * hidden + update * h};
}

// Gates i, o, f and c; the peepholes are of i, o and f.
Values LstmStep(const Cell& cell, const Value& x, const Values& state) {
  const Layer& layer = cell.layer;
  const Values parts = FirstAndLast(layer, x + Recurred(cell, state[0]));
  const bool plain = cell.peepholes.empty();
  const Values gates = Parts(plain ? cell.Activated(parts[0], 0) : parts[0], 3, layer.hidden, 1);
  const auto gate = [&](int i, int peephole, const Value& c) {
    return plain ? gates[i] : cell.Activated(gates[i] + cell.peepholes[peephole] * c, 0);
  };
  const Value input = gate(0, 0, state[1]), forget = gate(2, 2, state[1]);
  const Value c = forget * state[1] + input * cell.Activated(parts[1], 1);
  return {gate(1, 1, c) * cell.Activated(c, 2), c};
}

// [batch, hidden] of zeros, or of an input [directions, batch, hidden].
Value FirstState(const Layer& layer, int input, int64_t direction) {
  const GradContext& node = layer.node;
  if (node.HasInput(input)) return Row(node.Input(input), direction);
  GraphBuilder& graph = node.graph();
  const Value batch = Op("Gather", {Op("Shape", {node.Input(0)}), graph.Ints({{1}})});
  const Value shape = Op("Concat", {batch, graph.Ints({{layer.hidden}})}, {{"axis", int64_t{0}}});
  return Op("Expand", {graph.Scalar(0), shape});
}

struct Direction {
  Value all;      // h of all steps, [steps, 1, batch, hidden]
  Values states;  // the last, [1, batch, hidden] each
};

Direction Run(const Layer& layer, int64_t direction, bool backwards, Step step) {
  const GradContext& node = layer.node;
  Value brought = MatMul(node.Input(0), Transpose(Row(node.Input(1), direction), {{1, 0}}));
  Cell cell{layer, direction, Transpose(Row(node.Input(2), direction), {{1, 0}})};
  if (node.HasInput(3)) {
    const Values halves = Parts(Row(node.Input(3), direction), 2, layer.gates * layer.hidden, 0);
    brought = brought + halves[0];
    cell.bias = halves[1];
  }
  if (node.HasInput(7)) cell.peepholes = Parts(Row(node.Input(7), direction), 3, layer.hidden, 0);
  Values state;
  for (int64_t i = 0; i < layer.states; ++i)
    state.push_back(FirstState(layer, static_cast<int>(5 + i), direction));
  // All steps by one node: each by itself would have a gradient as large as all.
  const Values inputs = Parts(brought, layer.steps, 1, 0);
  Values all;
  for (int64_t i = 0; i < layer.steps; ++i) {
    const Value x = Squeeze(inputs[backwards ? layer.steps - 1 - i : i], {0});
    state = step(cell, x, state);
    all.push_back(Unsqueeze(state[0], {0, 1}));
  }
  if (backwards) std::ranges::reverse(all);
  for (Value& last : state) last = Unsqueeze(last, {0});
  return {node.graph().Node("Concat", all, {{"axis", int64_t{0}}}), state};
}

// Names of activations without numbers of their own; no list for others.
std::vector<std::string> Activations(const GradContext& node, std::vector<std::string> usual,
                                     int64_t directions) {
  std::vector<std::string> names;
  for (const auto& attribute : node.node().attribute())
    if (attribute.name() == "activations")
      names.assign(attribute.strings().begin(), attribute.strings().end());
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i) names.insert(names.end(), usual.begin(), usual.end());
  const auto is_plain = [](const std::string& name) {
    return name == "Sigmoid" || name == "Tanh" || name == "Relu" || name == "Softplus" || name == "Softsign";
  };
  const bool fits = names.size() == usual.size() * static_cast<size_t>(directions);
  return fits && std::ranges::all_of(names, is_plain) ? names : std::vector<std::string>();
}

bool IsCovered(const GradContext& node) {
  return !node.HasInput(4) && !node.HasAttribute("clip") && node.Int("layout", 0) == 0 &&
         node.Int("input_forget", 0) == 0 && node.HasAttribute("hidden_size");
}

Values Unrolled(Layer layer, const std::vector<std::string>& usual, Step step) {
  const GradContext& node = layer.node;
  const Extent& steps = node.InputInfo(0).shape[0];
  if (!IsCovered(node) || !steps.known() || steps.value < 1 || steps.value > kMostSteps) return {};
  const std::string direction = node.String("direction", "forward");
  layer.steps = steps.value;
  layer.hidden = node.Int("hidden_size", 0);
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.activations = Activations(node, usual, layer.directions);
  if (layer.activations.empty()) return {};
  const Direction first = Run(layer, 0, direction == "reverse", step);
  Values outputs = {first.all};
  outputs.insert(outputs.end(), first.states.begin(), first.states.end());
  if (layer.directions == 1) return outputs;
  const Direction second = Run(layer, 1, /*backwards=*/true, step);
  outputs[0] = Op("Concat", {first.all, second.all}, {{"axis", int64_t{1}}});
  for (size_t i = 0; i < first.states.size(); ++i)
    outputs[i + 1] = Op("Concat", {first.states[i], second.states[i]}, {{"axis", int64_t{0}}});
  return outputs;
}

Values Rnn(const GradContext& node) { return Unrolled({node, 1, 1}, {"Tanh"}, RnnStep); }
Values Gru(const GradContext& node) { return Unrolled({node, 3, 1}, {"Sigmoid", "Tanh"}, GruStep); }
Values Lstm(const GradContext& node) { return Unrolled({node, 4, 2}, {"Sigmoid", "Tanh", "Tanh"}, LstmStep); }

constexpr std::array kExpansions = {
    Expansion{"", "RNN", Rnn},
    Expansion{"", "GRU", Gru},
    Expansion{"", "LSTM", Lstm},
};

}  // namespace

std::span<const Expansion> RecurrentExpansions() { return kExpansions; }

}  // namespace ort_ed
