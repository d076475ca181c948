#include "trainer/autodiff/input_gradient.h"

#include <algorithm>
#include <span>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/metadata.h"
#include "runtime/support/encoding/base64.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

constexpr char kPrefix[] = "ort_ed_gradient/";

// What comes after the first `kept` elements.
template <typename Repeated>
void CopyTail(const Repeated& from, int kept, Repeated& to) {
  for (int i = kept; i < from.size(); ++i) *to.Add() = from[i];
}

}  // namespace

onnx::ModelProto InputGradientFragment(const onnx::ModelProto& energy_model) {
  const EnergyContract contract = CheckContract(energy_model, "model");
  onnx::ModelProto model = energy_model;
  GraphBuilder builder(model, kPrefix);
  const auto gradients = Differentiate(
      builder, {.output = contract.output, .output_gradient = "", .with_respect_to = {contract.input}});
  const std::string& gradient = gradients.at(contract.input);
  // An energy that does not depend on x has a gradient of zeros.
  const Value x = builder.Existing(contract.input);
  builder.Named(gradient.empty() ? x * 0.0f : builder.Existing(gradient), kGradientOutputName);

  const onnx::GraphProto& before = energy_model.graph();
  onnx::ModelProto fragment;
  onnx::GraphProto& added = *fragment.mutable_graph();
  CopyTail(model.graph().node(), before.node_size(), *added.mutable_node());
  CopyTail(model.graph().initializer(), before.initializer_size(), *added.mutable_initializer());
  onnx::ValueInfoProto& output = *added.add_output();
  output = *std::find_if(before.input().begin(), before.input().end(),
                         [&](const onnx::ValueInfoProto& input) { return input.name() == contract.input; });
  output.set_name(kGradientOutputName);
  return fragment;
}

void AttachInputGradient(onnx::ModelProto& energy_model) {
  PrepareForDifferentiation(energy_model);
  ExpandOperators(energy_model);
  const std::string bytes = InputGradientFragment(energy_model).SerializeAsString();
  SetMetadata(energy_model, metadata_key::kGradientFragment, Base64Encode(std::as_bytes(std::span(bytes))));
}

}  // namespace ort_ed
