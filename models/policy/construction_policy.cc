#include "models/policy/construction_policy.h"

#include <string>

#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"

namespace ort_ed {
namespace {

using namespace construction_policy;

constexpr float kImpossible = 1e9f;  // taken off logits: no others come near, and nothing becomes infinite

// `state`: -1, 0, 1.
Value Logits(const ConstructionPolicySpec& spec, const Value& state) {
  Initialiser initialiser(spec.seed);
  const EnergyContext context{state, spec.dimension, {}, initialiser};
  Value features = state;
  int64_t width = spec.dimension;
  int layer = 0;
  for (const int64_t hidden : spec.hidden) {
    features =
        Op("LeakyRelu", {Linear(context, "hidden" + std::to_string(++layer), features, width, hidden)});
    width = hidden;
  }
  return Linear(context, "output", features, width, 3 * spec.dimension);
}

Value LogPartition(const ConstructionPolicySpec& spec, GraphBuilder& graph) {
  const std::vector<int64_t> shape = {1};
  return graph.Parameter(kLogPartitionParameter, shape, std::vector<float>{0}) *
         static_cast<float>(spec.log_z_scale);
}

// `possible`: 1, else 0.
Value MaskedLogSoftmax(const Value& logits, const Value& possible) {
  return Op("LogSoftmax", {logits + (possible - 1.0f) * kImpossible}, {{"axis", int64_t{1}}});
}

struct LogProbabilities {
  Value additions;  // [batch, 2 D]
  Value removals;   // [batch, D]
};

// `open`: [batch, D], 1 where a variable is.
LogProbabilities Probabilities(const ConstructionPolicySpec& spec, const Value& logits, const Value& open) {
  GraphBuilder& graph = *logits.graph;
  const int64_t d = spec.dimension;
  const std::vector<Value> parts = graph.NodeWithOutputs(
      "Split", std::vector{logits, graph.Ints(std::vector<int64_t>{2 * d, d})}, 2, {{"axis", int64_t{1}}});
  const Value twice = Op("Concat", {open, open}, {{"axis", int64_t{1}}});
  return {MaskedLogSoftmax(parts[0], twice), MaskedLogSoftmax(parts[1], 1.0f - open)};
}

Value AsNumber(const Value& condition) {
  return Op("Cast", {condition}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
}

Value IsCode(const Value& x, Code code) {
  return AsNumber(Op("Equal", {x, x.graph->Scalar(static_cast<float>(code))}));
}

}  // namespace

onnx::ModelProto BuildPolicyForTraining(const ConstructionPolicySpec& spec) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("policy");
  GraphBuilder graph(model);
  const Value x = graph.Input("x", std::vector<int64_t>{-1, spec.dimension});
  const Value next_zero = IsCode(x, kNextZero), next_one = IsCode(x, kNextOne);
  const Value last_one = IsCode(x, kLastOne);
  const Value open = IsCode(x, kHole) + next_zero + next_one;
  const Value logits = graph.Named(Logits(spec, IsCode(x, kOne) + last_one - open), kLogits);
  const LogProbabilities log_p = Probabilities(spec, logits, open);

  const Value next = Op("Concat", {next_zero, next_one}, {{"axis", int64_t{1}}});
  const Value last = IsCode(x, kLastZero) + last_one;
  const Value nothing_set = AsNumber(
      Op("Greater", {ReduceSum(open, {1}), graph.Scalar(static_cast<float>(spec.dimension) - 0.5f)}));
  const Value sum = ReduceSum(next * log_p.additions, {1}) - ReduceSum(last * log_p.removals, {1}) +
                    nothing_set * LogPartition(spec, graph);
  graph.Output(graph.Named(sum, "energy"), std::vector<int64_t>{-1});
  return model;
}

onnx::ModelProto BuildPolicyForDeployment(const ConstructionPolicySpec& spec) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("policy");
  GraphBuilder graph(model);
  const int64_t d = spec.dimension;
  const Value z = graph.Input(kOpen, std::vector<int64_t>{-1, d});
  const Value open = AsNumber(Op("Less", {z, graph.Scalar(-0.5f)}));
  const LogProbabilities log_p = Probabilities(spec, Logits(spec, z), open);
  const Value additions = Reshape(log_p.additions, std::vector<int64_t>{-1, 2, d});
  graph.Output(graph.Named(additions, kAdditions), std::vector<int64_t>{-1, 2, d});
  graph.Output(graph.Named(log_p.removals, kRemovals), std::vector<int64_t>{-1, d});
  graph.Output(graph.Named(LogPartition(spec, graph), kLogPartition), std::vector<int64_t>{1});
  return model;
}

}  // namespace ort_ed
