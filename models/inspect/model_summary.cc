#include "models/inspect/model_summary.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "models/graph/standard_domain.h"
#include "models/inspect/model_flops.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

using Shape = onnx::TensorShapeProto;

std::string TypeName(int32_t type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
      return "float32";
    case onnx::TensorProto::DOUBLE:
      return "float64";
    case onnx::TensorProto::FLOAT16:
      return "float16";
    case onnx::TensorProto::BFLOAT16:
      return "bfloat16";
    case onnx::TensorProto::INT64:
      return "int64";
    case onnx::TensorProto::INT32:
      return "int32";
    case onnx::TensorProto::UINT8:
      return "uint8";
    case onnx::TensorProto::BOOL:
      return "bool";
    default:
      return "ONNX element type " + std::to_string(type);
  }
}

std::string ShapeText(const Shape& shape) {
  std::vector<std::string> extents;
  for (const auto& dimension : shape.dim()) {
    const std::string name = dimension.dim_param().empty() ? "?" : dimension.dim_param();
    extents.push_back(dimension.has_dim_value() ? std::to_string(dimension.dim_value()) : name);
  }
  return "[" + Join(extents, ", ") + "]";
}

std::string Quoted(const std::vector<std::string>& names) { return "'" + Join(names, "', '") + "'"; }

// Initialisers may be listed among the inputs too (they had to be before IR version 4): defaults, not inputs.
std::vector<const onnx::ValueInfoProto*> TrueInputs(const onnx::GraphProto& graph) {
  std::set<std::string> initialisers;
  for (const auto& tensor : graph.initializer()) initialisers.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!initialisers.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

class ContractCheck {
 public:
  ContractCheck(const onnx::GraphProto& graph, const std::string& name) : graph_(graph), name_(name) {}

  EnergyContract Run() {
    CheckInput();
    CheckOutput();
    return contract_;
  }

 private:
  [[noreturn]] void Reject(const std::string& problem) const {
    throw Error(ErrorCode::kBadModel, "'" + name_ + "' is no energy model: " + problem);
  }

  // The shape, or null where the model does not declare one.
  const Shape* CheckFloatTensor(const onnx::ValueInfoProto& value, const std::string& what,
                                const std::string& shape, const std::string& cast_advice) const {
    const auto& type = value.type();
    if (!type.has_tensor_type()) Reject(what + " is no tensor; it must be float32 " + shape);
    if (type.tensor_type().elem_type() != onnx::TensorProto::FLOAT) {
      Reject(what + " is " + TypeName(type.tensor_type().elem_type()) + " and must be float32; " +
             cast_advice);
    }
    return type.tensor_type().has_shape() ? &type.tensor_type().shape() : nullptr;
  }

  void CheckInput() {
    const auto inputs = TrueInputs(graph_);
    if (inputs.size() != 1) {
      std::vector<std::string> names;
      for (const auto* input : inputs) names.push_back(input->name());
      Reject("it has " + std::to_string(inputs.size()) + " inputs" +
             (names.empty() ? "" : " (" + Quoted(names) + ")") +
             " and needs exactly one, float32 [batch, D]; make the others initialisers or constants");
    }
    contract_.input = inputs[0]->name();
    const std::string what = "its input '" + contract_.input + "'";
    const Shape* shape =
        CheckFloatTensor(*inputs[0], what, "[batch, D]", "put a Cast behind a float32 input");
    if (shape == nullptr) Reject(what + " declares no shape and must have rank 2, [batch, D]");
    if (shape->dim_size() != 2) {
      Reject(what + " has the shape " + ShapeText(*shape) +
             " and must have rank 2, [batch, D]; put a Reshape behind an input of that shape");
    }
    CheckExtents(*shape, what);
  }

  void CheckExtents(const Shape& shape, const std::string& what) {
    if (!shape.dim(1).has_dim_value() || shape.dim(1).dim_value() < 1) {
      Reject(what + " has the shape " + ShapeText(shape) +
             ", but D, its second extent, must be fixed; export the model with a fixed number of columns");
    }
    if (shape.dim(0).has_dim_value()) {
      Reject(what + " has the batch fixed at " + std::to_string(shape.dim(0).dim_value()) +
             "; export the model with a dynamic batch (in PyTorch: dynamic_axes={'" + contract_.input +
             "': {0: 'batch'}, ...})");
    }
    contract_.dimension = shape.dim(1).dim_value();
  }

  const onnx::ValueInfoProto& FindEnergy() const {
    std::vector<std::string> names;
    for (const auto& output : graph_.output()) {
      if (output.name() == kEnergyOutputName || graph_.output_size() == 1) return output;
      names.push_back(output.name());
    }
    if (names.empty()) Reject("it has no output; the energies, float32 [batch], must be one");
    Reject("it has the outputs " + Quoted(names) + "; name the one that is the energy '" + kEnergyOutputName +
           "'");
  }

  void CheckOutput() {
    const auto& output = FindEnergy();
    contract_.output = output.name();
    const std::string what = "its output '" + contract_.output + "'";
    const Shape* shape = CheckFloatTensor(output, what, "[batch]", "put a Cast before it");
    if (shape == nullptr) return;
    const bool column =
        shape->dim_size() == 2 && (!shape->dim(1).has_dim_value() || shape->dim(1).dim_value() == 1);
    if (shape->dim_size() != 1 && !column) {
      Reject(what + " has the shape " + ShapeText(*shape) + " and must be [batch] or [batch, 1]");
    }
    contract_.output_rank = shape->dim_size();
  }

  const onnx::GraphProto& graph_;
  const std::string& name_;
  EnergyContract contract_;
};

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
  return ContractCheck(model.graph(), name).Run();
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
