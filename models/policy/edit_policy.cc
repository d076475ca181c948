#include "models/policy/edit_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"
#include "models/graph/graph_builder.h"

namespace ort_ed {
namespace {

using namespace edit_policy;

constexpr float kImpossible = 1e9f;  // taken off logits: no others come near, and nothing becomes infinite

Value Swish(const Value& x) { return x * Sigmoid(x); }

// Layers of q0: a unit of degree m sees the first m variables, and variable i depends on units with m <= i
// (Germain et al. 2015). What is not to be connected is 0.
class MaskedLayers {
 public:
  MaskedLayers(GraphBuilder& graph, uint64_t seed) : graph_(graph), initialiser_(seed) {}

  Value Weight(const std::string& name, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    const std::vector<int64_t> shape = {std::ssize(from), std::ssize(to)};
    std::vector<float> values =
        initialiser_.Uniform(shape, 1 / std::sqrt(static_cast<double>(std::ssize(from))));
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t o = 0; o < to.size(); ++o)
        if (from[i] > to[o]) values[i * to.size() + o] = 0;
    return graph_.Parameter(name + ".weight", shape, values);
  }
  Value Bias(const std::string& name, int64_t units) {
    const std::vector<int64_t> shape = {units};
    return graph_.Parameter(name + ".bias", shape, initialiser_.Fill(shape, 0));
  }

 private:
  GraphBuilder& graph_;
  Initialiser initialiser_;
};

Value LogOdds(const EditPolicySpec& spec, const Value& x) {
  const int64_t d = spec.dimension;
  MaskedLayers layers(*x.graph, spec.seed);
  std::vector<int64_t> inputs(static_cast<size_t>(d)), outputs(static_cast<size_t>(d));
  std::iota(inputs.begin(), inputs.end(), 1);  // variable i is seen by units of degree i + 1 and more
  std::iota(outputs.begin(), outputs.end(), 0);
  Value features = x;
  std::vector<int64_t> seen = inputs;
  int layer = 0;
  for (const int64_t units : spec.q0_hidden) {
    std::vector<int64_t> degrees;
    for (int64_t u = 0; u < units; ++u) degrees.push_back(1 + u % std::max<int64_t>(1, d - 1));
    const std::string name = "q0.hidden" + std::to_string(++layer);
    features = Swish(Op("Gemm", {features, layers.Weight(name, seen, degrees), layers.Bias(name, units)}));
    seen = degrees;
  }
  return Op("Gemm", {features, layers.Weight("q0.output", seen, outputs), layers.Bias("q0.output", d)}) +
         MatMul(x, layers.Weight("q0.direct", inputs, outputs));
}

// [batch, D + 1].
Value EditLogits(const EditPolicySpec& spec, const Value& x) {
  Initialiser initialiser(spec.seed + 1);
  const EnergyContext context{x, spec.dimension, {}, initialiser};
  const auto network = [&](const std::string& prefix, int64_t outputs) {
    Value features = x;
    int64_t width = spec.dimension;
    int layer = 0;
    for (const int64_t hidden : spec.editor_hidden) {
      features =
          Swish(Linear(context, prefix + ".hidden" + std::to_string(++layer), features, width, hidden));
      width = hidden;
    }
    return Linear(context, prefix + ".output", features, width, outputs);
  };
  const Value edits = network("editor", spec.dimension);
  return Op("Concat", {edits, network("stop", 1)}, {{"axis", int64_t{1}}});
}

Value IsCode(const Value& x, Code code) {
  return Op("Cast", {Op("Equal", {x, x.graph->Scalar(static_cast<float>(code))})},
            {{"to", int64_t{onnx::TensorProto::FLOAT}}});
}

onnx::ModelProto Frame(const char* name) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name(name);
  return model;
}

}  // namespace

// -log p of a bit is softplus of the log odds of the other value.
onnx::ModelProto BuildStartForTraining(const EditPolicySpec& spec) {
  onnx::ModelProto model = Frame("q0");
  GraphBuilder graph(model);
  const Value x = graph.Input("x", std::vector<int64_t>{-1, spec.dimension});
  const Value log_odds = graph.Named(LogOdds(spec, x), kLogOdds);
  const Value energy = ReduceSum(Softplus((1.0f - 2.0f * x) * log_odds), {1});
  graph.Output(graph.Named(energy, "energy"), std::vector<int64_t>{-1});
  return model;
}

onnx::ModelProto BuildEditorForTraining(const EditPolicySpec& spec) {
  onnx::ModelProto model = Frame("editor");
  GraphBuilder graph(model);
  const int64_t d = spec.dimension;
  const Value x = graph.Input("x", std::vector<int64_t>{-1, d});
  const Value edited_one = IsCode(x, kEditedOne), next_one = IsCode(x, kNextOne);
  const Value logits = graph.Named(EditLogits(spec, IsCode(x, kOne) + edited_one + next_one), kEdits);
  const std::vector<Value> parts = graph.NodeWithOutputs(
      "Split", std::vector{logits, graph.Ints(std::vector<int64_t>{d, 1})}, 2, {{"axis", int64_t{1}}});
  const Value edited = IsCode(x, kEditedZero) + edited_one;
  const Value next = IsCode(x, kNextZero) + next_one;
  const Value log_edits = Op("LogSoftmax", {parts[0] - edited * kImpossible}, {{"axis", int64_t{1}}});
  const Value goes_on = ReduceSum(next, {1});
  const Value stop = Squeeze(parts[1], {1});
  // -log sigmoid(s) = softplus(-s).
  const Value energy =
      goes_on * Softplus(stop) + (1.0f - goes_on) * Softplus(-stop) - ReduceSum(next * log_edits, {1});
  graph.Output(graph.Named(energy, "energy"), std::vector<int64_t>{-1});
  return model;
}

onnx::ModelProto BuildEditPolicyForDeployment(const EditPolicySpec& spec) {
  onnx::ModelProto model = Frame("aloe");
  GraphBuilder graph(model);
  const int64_t d = spec.dimension;
  const Value x = graph.Input(kRow, std::vector<int64_t>{-1, d});
  graph.Output(graph.Named(LogOdds(spec, x), kLogOdds), std::vector<int64_t>{-1, d});
  graph.Output(graph.Named(EditLogits(spec, x), kEdits), std::vector<int64_t>{-1, d + 1});
  return model;
}

}  // namespace ort_ed
