#include "trainer/graph/infer_shapes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <unordered_set>

#include "models/graph/model_edits.h"
#include "runtime/session.h"
#include "trainer/graph/graph_names.h"
#include "trainer/kernels/ops/cpu_ops.h"

namespace ort_ed {
namespace {

// Initialisers up to this size may steer shapes (axes, scales, target shapes) and are given to ONNX Runtime
// with their values; larger ones are declared as inputs, so that weights are not copied.
constexpr int64_t kLargestSteeringTensor = 256;

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

TensorInfo Describe(const Ort::TypeInfo& type) {
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

TensorInfo Describe(const onnx::TensorProto& tensor) {
  TensorInfo info{.type = tensor.data_type(), .has_rank = true, .shape = {}};
  for (int64_t extent : tensor.dims()) info.shape.push_back({extent, ""});
  return info;
}

TensorInfos ReadTypes(const Ort::Session& session) {
  TensorInfos infos;
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    infos[session.GetInputNameAllocated(i, allocator).get()] = Describe(session.GetInputTypeInfo(i));
  }
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    infos[session.GetOutputNameAllocated(i, allocator).get()] = Describe(session.GetOutputTypeInfo(i));
  }
  return infos;
}

Ort::Session OpenProbe(const onnx::ModelProto& probe) {
  const std::string bytes = probe.SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  RegisterCpuKernels(options);
  return OpenSession(std::as_bytes(std::span(bytes)), options, "model");
}

TensorInfos InferredTypes(const onnx::ModelProto& probe) { return ReadTypes(OpenProbe(probe)); }

// What the model carries in numbers, whatever its inputs.
std::unordered_set<std::string> Constants(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& node : graph.node())
    if (node.op_type() == "Constant") names.insert(node.output(0));
  return names;
}

// A constant, or reshaped as a constant says: a scalar where ONNX Runtime shows one.
bool HasCertainRank(const onnx::NodeProto& node, const std::unordered_set<std::string>& constants) {
  return node.op_type() == "Constant" ||
         (node.op_type() == "Reshape" && node.input_size() == 2 && constants.contains(node.input(1)));
}

// ONNX Runtime's interface shows a tensor of unknown rank as a scalar. These are the outputs of nodes that
// may be either.
std::vector<std::string> ScalarsOrUnknown(const onnx::GraphProto& graph, const TensorInfos& infos) {
  const auto constants = Constants(graph);
  std::vector<std::string> names;
  for (const auto& node : graph.node()) {
    if (HasCertainRank(node, constants)) continue;
    for (const auto& output : node.output()) {
      const auto info = infos.find(output);
      if (info != infos.end() && info->second.has_rank && info->second.rank() == 0) names.push_back(output);
    }
  }
  return names;
}

// The extent of its Shape tells them apart: 0 for a scalar, unknown for the other.
void FindUnknownRanks(onnx::ModelProto& probe, TensorInfos& infos) {
  constexpr char kPrefix[] = "ort_ed_shape_of/";
  onnx::GraphProto& graph = *probe.mutable_graph();
  const std::vector<std::string> names = ScalarsOrUnknown(graph, infos);
  if (names.empty()) return;
  for (const std::string& name : names) {
    onnx::NodeProto& shape = *graph.add_node();
    shape.set_op_type("Shape");
    shape.add_input(name);
    shape.add_output(kPrefix + name);
    graph.add_output()->set_name(shape.output(0));
  }
  for (const auto& [name, info] : InferredTypes(probe)) {
    if (name.rfind(kPrefix, 0) != 0) continue;
    infos.at(name.substr(sizeof(kPrefix) - 1)).has_rank = info.shape.size() == 1 && info.shape[0].known();
  }
}

// A symbol that our own operators make up (ShapeInference of cpu_op.h) says as little as none.
bool HasName(const Extent& extent) {
  return !extent.symbol.empty() && !extent.symbol.starts_with("ort_ed_unknown_");
}

bool IsUnknown(const TensorInfo& info) {
  return !info.has_rank || std::any_of(info.shape.begin(), info.shape.end(), [](const Extent& extent) {
    return !extent.known() && !HasName(extent);
  });
}

// Keeps only what `output` depends on. Returns the tensors among that whose shape is unknown.
std::vector<std::string> TrimTo(onnx::GraphProto& graph, const std::string& output,
                                const TensorInfos& infos) {
  std::unordered_set<std::string> needed = {output};
  std::vector<std::string> unknown;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto& node = graph.node(i);
    if (std::none_of(node.output().begin(), node.output().end(),
                     [&](const std::string& name) { return needed.count(name) > 0; })) {
      continue;
    }
    *nodes.Add() = node;
    for (const auto& read : TensorsRead(node)) needed.insert(read);
    for (const auto& made : node.output()) {
      const auto info = infos.find(made);
      if (info != infos.end() && info->second.is_floating() && IsUnknown(info->second))
        unknown.push_back(made);
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  graph.mutable_node()->Swap(&nodes);
  auto& inputs = *graph.mutable_input();
  for (int i = inputs.size() - 1; i >= 0; --i) {
    if (needed.count(inputs[i].name()) == 0) inputs.DeleteSubrange(i, 1);
  }
  graph.clear_output();
  for (const auto& tensor : unknown) graph.add_output()->set_name(tensor);
  return unknown;
}

using Shapes = std::vector<std::vector<int64_t>>;

template <typename T>
void Fill(std::vector<std::byte>& memory, float number) {
  const std::span<T> elements(reinterpret_cast<T*>(memory.data()), memory.size() / sizeof(T));
  std::ranges::fill(elements, static_cast<T>(number));
}

void Fill(std::vector<std::byte>& memory, ONNXTensorElementDataType type, float number) {
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) Fill<float>(memory, number);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE) Fill<double>(memory, number);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) Fill<int64_t>(memory, number);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32) Fill<int32_t>(memory, number);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL)
    Fill<uint8_t>(memory, number);
}

// The shapes of the outputs for inputs of one number, with `batch` for every dynamic extent.
Shapes ObservedShapes(Ort::Session& session, int64_t batch, float number) {
  Ort::AllocatorWithDefaultOptions allocator;
  constexpr size_t kLargestElement = sizeof(double);
  std::vector<std::string> names;
  std::vector<std::vector<std::byte>> inputs_memory;
  std::vector<Ort::Value> values;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    names.emplace_back(session.GetInputNameAllocated(i, allocator).get());
    const auto type_info = session.GetInputTypeInfo(i);
    const auto tensor = type_info.GetTensorTypeAndShapeInfo();
    std::vector<int64_t> shape = tensor.GetShape();
    for (int64_t& extent : shape) extent = extent < 0 ? batch : extent;
    const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    inputs_memory.emplace_back(static_cast<size_t>(count) * kLargestElement);
    Fill(inputs_memory.back(), tensor.GetElementType(), number);
    values.push_back(Ort::Value::CreateTensor(HostMemory(), inputs_memory.back().data(),
                                              inputs_memory.back().size(), shape.data(), shape.size(),
                                              tensor.GetElementType()));
  }
  const size_t inputs = names.size(), outputs = session.GetOutputCount();
  for (size_t i = 0; i < outputs; ++i) names.emplace_back(session.GetOutputNameAllocated(i, allocator).get());
  std::vector<const char*> raw;
  for (const auto& name : names) raw.push_back(name.c_str());
  Shapes shapes;
  for (const auto& value : session.Run({}, raw.data(), values.data(), inputs, raw.data() + inputs, outputs)) {
    shapes.push_back(value.GetTensorTypeAndShapeInfo().GetShape());
  }
  return shapes;
}

// The one symbol of the inputs' extents; empty if there are several.
std::string OnlySymbol(const onnx::GraphProto& graph) {
  std::set<std::string> symbols;
  for (const auto& input : graph.input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) symbols.insert(dim.dim_param());
    }
  }
  return symbols.size() == 1 ? *symbols.begin() : "";
}

// An extent that is the same for two batch sizes and for zeros and ones is fixed, one that follows the batch
// is the batch. A graph that does not run on these keeps its unknowns.
void ObserveUnknownShapes(onnx::ModelProto probe, const std::string& output, TensorInfos& infos) {
  constexpr int64_t kBatch = 5, kOtherBatch = 19;
  const std::vector<std::string> unknown = TrimTo(*probe.mutable_graph(), output, infos);
  if (unknown.empty()) return;
  Shapes first, second;
  try {
    Ort::Session session = OpenProbe(probe);
    first = ObservedShapes(session, kBatch, 0);
    second = ObservedShapes(session, kOtherBatch, 1);
  } catch (const Ort::Exception& error) {
    if (IsOutOfMemory(error)) throw std::bad_alloc();
    return;
  }
  const std::string symbol = OnlySymbol(probe.graph());
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (first[i].size() != second[i].size()) continue;
    TensorInfo& info = infos.at(unknown[i]);
    info.has_rank = true;
    info.shape.resize(first[i].size());
    for (size_t axis = 0; axis < first[i].size(); ++axis) {
      Extent& extent = info.shape[axis];
      if (first[i][axis] == second[i][axis]) {
        extent = {first[i][axis], ""};
      } else if (first[i][axis] == kBatch && second[i][axis] == kOtherBatch) {
        extent = {-1, symbol};
      }
    }
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

TensorInfos InferShapes(const onnx::ModelProto& model, const std::string& output) {
  onnx::ModelProto probe = ExposeIntermediates(model);
  TensorInfos infos = InferredTypes(probe);
  FindUnknownRanks(probe, infos);
  for (const auto& tensor : model.graph().initializer()) infos[tensor.name()] = Describe(tensor);
  if (!output.empty()) ObserveUnknownShapes(ExposeIntermediates(model), output, infos);
  return infos;
}

TensorInfos InferShapesOfArrays(const onnx::ModelProto& model) {
  TensorInfos infos = InferredTypes(ExposeIntermediates(model));
  for (const std::string& name : ScalarsOrUnknown(model.graph(), infos)) infos.at(name).has_rank = false;
  for (const auto& tensor : model.graph().initializer()) infos[tensor.name()] = Describe(tensor);
  return infos;
}

}  // namespace ort_ed
