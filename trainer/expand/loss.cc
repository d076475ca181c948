// Losses of classifiers, which serve as energies of labels.
#include <array>

#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

using Values = std::vector<Value>;

// Labels that do not count become class 0, and weigh nothing.
struct Labels {
  Value classes;
  Value weights;
};

Labels ReadLabels(const GradContext& node) {
  Value labels = Op("Cast", {node.Input(1)}, {{"to", int64_t{onnx::TensorProto::INT64}}});
  const bool ignores = node.HasAttribute("ignore_index");
  const Value counts =
      ignores ? Op("Not", {Op("Equal", {labels, node.graph().IntScalar(node.Int("ignore_index", 0))})})
              : Op("Equal", {labels, labels});
  labels = Op("Where", {counts, labels, node.graph().IntScalar(0)});
  const Value ones = node.Mask(counts);
  return {labels, node.HasInput(2) ? ones * Op("Gather", {node.Input(2), labels}) : ones};
}

// Of logarithms of probabilities [rows, classes, ...] and labels [rows, ...].
Value NegativeLogLikelihood(const GradContext& node, const Value& logarithms) {
  const Labels labels = ReadLabels(node);
  const Value chosen =
      Op("GatherElements", {logarithms, Unsqueeze(labels.classes, {1})}, {{"axis", int64_t{1}}});
  const Value losses = -(Squeeze(chosen, {1}) * labels.weights);
  const std::string reduction = node.String("reduction", "mean");
  if (reduction == "none") return losses;
  const Value sum = Reduce("ReduceSum", losses, {});
  return reduction == "sum" ? sum : sum / Reduce("ReduceSum", labels.weights, {});
}

Values NegativeLogLikelihoodLoss(const GradContext& node) {
  return {NegativeLogLikelihood(node, node.Input(0))};
}

Values SoftmaxCrossEntropyLoss(const GradContext& node) {
  const Value logarithms = Op("LogSoftmax", {node.Input(0)}, {{"axis", int64_t{1}}});
  return {NegativeLogLikelihood(node, logarithms), logarithms};
}

constexpr std::array kExpansions = {
    Expansion{"", "NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss},
    Expansion{"", "SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss},
};

}  // namespace

std::span<const Expansion> LossExpansions() { return kExpansions; }

}  // namespace ort_ed
