#include "models/inspect/model_summary.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <onnx/onnx_pb.h>

#include "models/graph/standard_domain.h"
#include "models/inspect/model_flops.h"

namespace ort_ed {
namespace {

TensorDeclaration Declared(const onnx::ValueInfoProto& value) {
  TensorDeclaration tensor{.name = value.name(), .element_type = {}, .extents = {}};
  if (!value.type().has_tensor_type()) return tensor;
  const auto& type = value.type().tensor_type();
  tensor.element_type = type.elem_type();
  if (!type.has_shape()) return tensor;
  tensor.extents.emplace();
  for (const auto& extent : type.shape().dim())
    tensor.extents->push_back(
        {.size = extent.has_dim_value() ? std::optional(extent.dim_value()) : std::nullopt,
         .name = extent.dim_param()});
  return tensor;
}

// Initialisers may be listed among the inputs too (they had to be before IR version 4): defaults, not inputs.
std::vector<TensorDeclaration> TrueInputs(const onnx::GraphProto& graph) {
  std::set<std::string> initialisers;
  for (const auto& tensor : graph.initializer()) initialisers.insert(tensor.name());
  std::vector<TensorDeclaration> inputs;
  for (const auto& input : graph.input())
    if (!initialisers.contains(input.name())) inputs.push_back(Declared(input));
  return inputs;
}

// Collects the operators of a graph, its subgraphs and its functions.
class OperatorCount {
 public:
  OperatorCount(const TensorShapes& shapes, const std::string& input) : shapes_(shapes) {
    per_row_.insert(input);
  }

  void AddGraph(const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) Add(node, DependsOnRow(node) ? NodeFlops(node, shapes_) : 0);
  }

  // The cost of a body belongs to the nodes that run it, which have none in the tables.
  template <typename Nodes>
  void AddBody(const Nodes& nodes) {
    for (const auto& node : nodes) Add(node, 0);
  }

  std::vector<OperatorSummary> Operators() const {
    std::vector<OperatorSummary> operators;
    for (const auto& [key, summary] : operators_) operators.push_back(summary);
    return operators;
  }

 private:
  bool DependsOnRow(const onnx::NodeProto& node) {
    const bool has_body = std::ranges::any_of(node.attribute(), [](const auto& a) { return a.has_g(); });
    const bool depends = has_body || std::ranges::any_of(node.input(), [&](const auto& input) {
                           return per_row_.contains(input);
                         });
    if (depends) per_row_.insert(node.output().begin(), node.output().end());
    return depends;
  }

  void Add(const onnx::NodeProto& node, std::optional<int64_t> flops) {
    const std::string domain = IsStandardDomain(node.domain()) ? "" : node.domain();
    const auto key = std::pair(domain, node.op_type());
    OperatorSummary& summary =
        operators_.try_emplace(key, OperatorSummary{domain, node.op_type(), 0, 0}).first->second;
    ++summary.count;
    summary.flops_per_row =
        summary.flops_per_row && flops ? std::optional(*summary.flops_per_row + *flops) : std::nullopt;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) AddBody(attribute.g().node());
      for (const auto& graph : attribute.graphs()) AddBody(graph.node());
    }
  }

  const TensorShapes& shapes_;
  std::set<std::string> per_row_;
  std::map<std::pair<std::string, std::string>, OperatorSummary> operators_;
};

TensorSummary Describe(const onnx::TensorProto& tensor) {
  TensorSummary summary{tensor.name(), {tensor.dims().begin(), tensor.dims().end()}, 1};
  for (const int64_t extent : summary.shape) summary.elements *= extent;
  return summary;
}

}  // namespace

EnergyContract CheckContract(const onnx::ModelProto& model, const std::string& name) {
  std::vector<TensorDeclaration> outputs;
  for (const auto& output : model.graph().output()) outputs.push_back(Declared(output));
  return CheckContract(TrueInputs(model.graph()), outputs, name);
}

ModelSummary Summarise(const onnx::ModelProto& model, const std::string& name, const TensorShapes& shapes) {
  ModelSummary summary;
  summary.contract = CheckContract(model, name);
  summary.opset = StandardOpset(model);
  summary.ir_version = model.ir_version();
  summary.producer =
      model.producer_name() + (model.producer_version().empty() ? "" : " ") + model.producer_version();
  TensorShapes all_shapes = shapes;
  for (const auto& tensor : model.graph().initializer()) {
    const TensorSummary description = Describe(tensor);
    all_shapes[tensor.name()] = description.shape;
    if (tensor.data_type() == onnx::TensorProto::FLOAT) summary.parameters.push_back(description);
  }
  OperatorCount operators(all_shapes, summary.contract.input);
  operators.AddGraph(model.graph());
  for (const auto& function : model.functions()) operators.AddBody(function.node());
  summary.operators = operators.Operators();
  for (const auto& entry : model.metadata_props()) summary.metadata[entry.key()] = entry.value();
  return summary;
}

int64_t ModelSummary::ParameterCount() const {
  return std::accumulate(parameters.begin(), parameters.end(), int64_t{0},
                         [](int64_t sum, const TensorSummary& tensor) { return sum + tensor.elements; });
}

std::optional<int64_t> ModelSummary::FlopsPerRow() const {
  int64_t sum = 0;
  for (const OperatorSummary& summary : operators) {
    if (!summary.flops_per_row) return std::nullopt;
    sum += *summary.flops_per_row;
  }
  return sum;
}

}  // namespace ort_ed
