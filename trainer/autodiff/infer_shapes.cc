#include "trainer/autodiff/infer_shapes.h"

#include <algorithm>
#include <span>

#include "runtime/session.h"
#include "trainer/kernels/cpu_ops.h"

namespace ort_ed {
namespace {

// Initialisers up to this size may steer shapes (axes, scales, target shapes) and are given to ONNX Runtime
// with their values; larger ones are declared as inputs, so that weights are not copied.
constexpr int64_t kLargestSteeringTensor = 256;

int64_t ElementCount(const onnx::TensorProto& tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.dims()) count *= extent;
  return count;
}

bool Steers(const onnx::TensorProto& tensor) {
  const bool is_weight = tensor.data_type() == onnx::TensorProto::FLOAT;
  return !is_weight || ElementCount(tensor) <= kLargestSteeringTensor;
}

void DeclareInput(onnx::GraphProto& graph, const onnx::TensorProto& tensor) {
  for (const auto& input : graph.input()) {
    if (input.name() == tensor.name()) return;
  }
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(tensor.name());
  auto* type = input.mutable_type()->mutable_tensor_type();
  type->set_elem_type(tensor.data_type());
  for (int64_t extent : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

// The same computation without the weights' values and with every intermediate as an output.
onnx::ModelProto ExposeIntermediates(const onnx::ModelProto& model) {
  onnx::ModelProto probe;
  probe.set_ir_version(std::max<int64_t>(model.ir_version(), 4));  // initialisers need not be inputs since 4
  *probe.mutable_opset_import() = model.opset_import();
  *probe.mutable_functions() = model.functions();
  onnx::GraphProto& graph = *probe.mutable_graph();
  graph.set_name("probe");
  *graph.mutable_input() = model.graph().input();
  *graph.mutable_node() = model.graph().node();
  for (const auto& tensor : model.graph().initializer()) {
    if (Steers(tensor)) {
      *graph.add_initializer() = tensor;
    } else {
      DeclareInput(graph, tensor);
    }
  }
  for (const auto& node : model.graph().node()) {
    for (const auto& output : node.output()) {
      if (!output.empty()) graph.add_output()->set_name(output);
    }
  }
  return probe;
}

TensorInfo InfoOf(const Ort::TypeInfo& type) {
  TensorInfo info;
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return info;
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  info.type = static_cast<int32_t>(tensor.GetElementType());
  info.has_rank = true;
  const std::vector<int64_t> extents = tensor.GetShape();
  std::vector<const char*> symbols(extents.size());
  tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  for (size_t i = 0; i < extents.size(); ++i) info.shape.push_back({extents[i], symbols[i]});
  return info;
}

TensorInfo InfoOf(const onnx::TensorProto& tensor) {
  TensorInfo info{.type = tensor.data_type(), .has_rank = true, .shape = {}};
  for (int64_t extent : tensor.dims()) info.shape.push_back({extent, ""});
  return info;
}

TensorInfos ReadTypes(const Ort::Session& session) {
  TensorInfos infos;
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    infos[session.GetInputNameAllocated(i, allocator).get()] = InfoOf(session.GetInputTypeInfo(i));
  }
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    infos[session.GetOutputNameAllocated(i, allocator).get()] = InfoOf(session.GetOutputTypeInfo(i));
  }
  return infos;
}

TensorInfos InferredTypes(const onnx::ModelProto& probe) {
  const std::string bytes = probe.SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  RegisterCpuKernels(options);
  return ReadTypes(OpenSession(std::as_bytes(std::span(bytes)), options, "model"));
}

// ONNX Runtime's interface shows a tensor of unknown rank as a scalar. The extent of its Shape tells them
// apart: 0 for a scalar, unknown for the other.
void FindUnknownRanks(onnx::ModelProto& probe, TensorInfos& infos) {
  constexpr char kPrefix[] = "ort_ed_shape_of/";
  onnx::GraphProto& graph = *probe.mutable_graph();
  const int nodes = graph.node_size();
  for (int i = 0; i < nodes; ++i) {
    const onnx::NodeProto node = graph.node(i);
    for (const auto& output : node.output()) {
      const auto info = infos.find(output);
      if (node.op_type() == "Constant" || info == infos.end()) continue;
      if (!info->second.has_rank || info->second.rank() > 0) continue;
      onnx::NodeProto& shape = *graph.add_node();
      shape.set_op_type("Shape");
      shape.add_input(output);
      shape.add_output(kPrefix + output);
      graph.add_output()->set_name(shape.output(0));
    }
  }
  if (graph.node_size() == nodes) return;
  for (const auto& [name, info] : InferredTypes(probe)) {
    if (name.rfind(kPrefix, 0) != 0) continue;
    infos.at(name.substr(sizeof(kPrefix) - 1)).has_rank = info.shape.size() == 1 && info.shape[0].known();
  }
}

}  // namespace

bool SameExtent(const Extent& a, const Extent& b) {
  if (a.known() || b.known()) return a.value == b.value;
  return !a.symbol.empty() && a.symbol == b.symbol;
}

bool TensorInfo::is_floating() const {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE ||
         type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

int TensorInfo::unknown_extents() const {
  return static_cast<int>(
      std::count_if(shape.begin(), shape.end(), [](const Extent& e) { return !e.known(); }));
}

TensorInfos InferShapes(const onnx::ModelProto& model) {
  onnx::ModelProto probe = ExposeIntermediates(model);
  TensorInfos infos = InferredTypes(probe);
  FindUnknownRanks(probe, infos);
  for (const auto& tensor : model.graph().initializer()) infos[tensor.name()] = InfoOf(tensor);
  return infos;
}

}  // namespace ort_ed
