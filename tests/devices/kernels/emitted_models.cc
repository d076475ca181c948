#include "tests/devices/kernels/emitted_models.h"

#include <map>
#include <set>

#include <onnx/defs/schema.h>

#include "models/architectures/energy_spec.h"
#include "runtime/session.h"
#include "runtime/support/text.h"
#include "tests/trainer/autodiff/gradient_cases.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/learner/step_graph.h"
#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

void NameNodes(onnx::ModelProto& model) {
  int number = 0;
  for (auto& node : *model.mutable_graph()->mutable_node()) node.set_name("node" + std::to_string(number++));
}

EmittedModel Emitted(const GradientCase& test, bool expand) {
  PreparedCase prepared = Prepare(test);
  if (test.rewrite) test.rewrite(prepared.model);
  if (expand) ExpandOperators(prepared.model);
  return {test.name, WithGradients(prepared.model, prepared.wanted)};
}

onnx::ModelProto Network(const char* architecture) {
  EnergySpec spec{.architecture = architecture, .dimension = 16};
  if (spec.architecture.kind == "resnet") spec.image_shape = {4, 4};
  return BuildModel(spec);
}

void AddTrainings(const char* architecture, const LearnerOptions& options,
                  std::vector<EmittedModel>& models) {
  using Kind = StepGraphKind;
  const PreparedModel network = Prepare(Network(architecture));
  const std::string name = std::string(architecture) + ", " + options.objective.kind;
  for (const Kind kind : {Kind::kStep, Kind::kAccumulate, Kind::kNorm, Kind::kApply, Kind::kEnergyGradient}) {
    StepGraphs graphs(network, options, {.negatives = 3});
    models.push_back({name, graphs.Make(kind)});
  }
}

std::string TypeName(const Ort::TypeInfo& info) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) return "sequence";
  switch (info.GetTensorTypeAndShapeInfo().GetElementType()) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return "float";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return "double";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return "float16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return "bfloat16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return "int64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return "int32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return "bool";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return "uint8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return "int8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
      return "uint32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return "uint64";
    default:
      return "other";
  }
}

std::string TypeName(int32_t type) {
  const std::map<int32_t, std::string> names = {
      {onnx::TensorProto::FLOAT, "float"},     {onnx::TensorProto::DOUBLE, "double"},
      {onnx::TensorProto::FLOAT16, "float16"}, {onnx::TensorProto::BFLOAT16, "bfloat16"},
      {onnx::TensorProto::INT64, "int64"},     {onnx::TensorProto::INT32, "int32"},
      {onnx::TensorProto::BOOL, "bool"},       {onnx::TensorProto::UINT8, "uint8"},
      {onnx::TensorProto::INT8, "int8"},       {onnx::TensorProto::UINT32, "uint32"},
      {onnx::TensorProto::UINT64, "uint64"}};
  const auto found = names.find(type);
  return found == names.end() ? "other" : found->second;
}

// Every tensor is made an output of the graph.
std::map<std::string, std::string> TensorTypes(onnx::ModelProto model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, std::string> types;
  for (const auto& input : graph.input())
    types[input.name()] = TypeName(input.type().tensor_type().elem_type());
  for (const auto& tensor : graph.initializer()) types[tensor.name()] = TypeName(tensor.data_type());
  graph.clear_output();
  for (const auto& node : graph.node())
    for (const std::string& name : node.output())
      if (!name.empty()) graph.add_output()->set_name(name);
  Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  const std::string bytes = model.SerializeAsString();
  const Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, "types");
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetOutputCount(); ++i)
    types[session.GetOutputNameAllocated(i, allocator).get()] = TypeName(session.GetOutputTypeInfo(i));
  return types;
}

int64_t Version(const std::string& op, int64_t opset) {
  const auto* schema = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(opset), "");
  static const int newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  return schema == nullptr || opset > newest ? opset : schema->SinceVersion();
}

}  // namespace

std::vector<EmittedModel> EmittedModels() {
  std::vector<EmittedModel> models;
  for (const GradientCase& test : AllRuleCases()) models.push_back(Emitted(test, false));
  for (const GradientCase& test : ExpansionCases()) models.push_back(Emitted(test, true));
  for (const char* architecture : {"mlp", "rbm", "ising", "resnet"}) AddTrainings(architecture, {}, models);
  for (const ObjectiveKind* objective : ObjectiveKinds()) {
    if (objective->for_policies) continue;  // whose batches have other shapes; the nodes are of these kinds
    LearnerOptions options;
    options.objective = objective->name;
    options.optimizer.clip = 1;
    options.optimizer.ema = 0.9;
    options.penalties.weight_decay = options.penalties.l1 = 0.1;
    options.freeze_zeros = {"*"};
    AddTrainings("mlp", options, models);
    options.optimizer.optimizer = OptimizerKind::kSgd;
    AddTrainings("mlp", options, models);
  }
  for (EmittedModel& each : models) NameNodes(each.model);
  return models;
}

std::string DifferentTypes(const NodeKind& node) {
  std::vector<std::string> types;
  for (const std::string& input : node.inputs)
    if (!input.empty() && (types.empty() || types.back() != input)) types.push_back(input);
  return Join(types, ", ");
}

std::vector<NodeKind> NodeKinds(const onnx::ModelProto& model) {
  const std::map<std::string, std::string> types = TensorTypes(model);
  int64_t opset = 0;
  for (const auto& import : model.opset_import())
    if (import.domain().empty()) opset = import.version();
  std::vector<NodeKind> kinds;
  for (const auto& node : model.graph().node()) {
    NodeKind kind{node.op_type(), Version(node.op_type(), opset), {}};
    for (const std::string& input : node.input()) kind.inputs.push_back(input.empty() ? "" : types.at(input));
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace ort_ed
