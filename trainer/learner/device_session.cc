#include "trainer/learner/device_session.h"

#include <algorithm>

#include "models/graph/graph_builder.h"
#include "runtime/session.h"
#include "trainer/kernels/ops/cpu_ops.h"
#include "trainer/learner/gpu_nodes.h"

namespace ort_ed {
namespace {

Ort::Session Open(onnx::ModelProto model, const Device& device, int threads, bool arena) {
  Ort::SessionOptions options = MakeSessionOptions(WithoutBadNodes(device, model), threads);
  const std::string bytes = model.SerializeAsString();
  // The pattern of the first run becomes one block for all later ones, while the first run's blocks stay in
  // the arena: activations would take their memory twice. Without it they take it once, and no longer.
  options.DisableMemPattern();
  if (!arena) options.DisableCpuMemArena();
  RegisterCpuKernels(options);
  return OpenSession(std::as_bytes(std::span(bytes)), options, "graph '" + model.graph().name() + "'");
}

onnx::ModelProto CopyGraph() {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("copy");
  GraphBuilder builder(model);
  const std::vector<int64_t> shape = {-1};
  builder.Output(builder.Named(builder.Input("from", shape), "to"), shape);
  return model;
}

// A part of a vector where its memory has no addresses.
onnx::ModelProto PartGraph() {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("part");
  GraphBuilder builder(model);
  const std::vector<int64_t> shape = {-1}, one = {1};
  const Value from = builder.Input("from", shape),
              begin = builder.Input("begin", one, onnx::TensorProto::INT64),
              end = builder.Input("end", one, onnx::TensorProto::INT64);
  builder.Output(builder.Named(Op("Slice", {from, begin, end}), "to"), shape);
  return model;
}

std::vector<int64_t> MakeShape(const std::vector<float>& values) {
  return {static_cast<int64_t>(values.size())};
}

}  // namespace

DeviceSession::DeviceSession(onnx::ModelProto model, const Device& device, int threads, bool arena)
    : session_(Open(std::move(model), device, threads, arena)), runs_(session_) {}

void DeviceSession::Runs::BindInput(const std::string& name, const Ort::Value& tensor) {
  Translated(ErrorCode::kRuntime, "cannot give '" + name + "' to the training graph",
             [&] { binding_.BindInput(name.c_str(), tensor); });
}

void DeviceSession::Runs::BindOutput(const std::string& name, const Ort::Value& tensor) {
  Translated(ErrorCode::kRuntime, "cannot take '" + name + "' from the training graph",
             [&] { binding_.BindOutput(name.c_str(), tensor); });
}

void DeviceSession::Runs::Run() {
  Translated(ErrorCode::kRuntime,
             "cannot run the training graph (if memory is short, use smaller micro-batches)", [&] {
               binding_.SynchronizeInputs();
               session_->Run(Ort::RunOptions(), binding_);
               binding_.SynchronizeOutputs();
             });
  binding_.ClearBoundInputs();
  binding_.ClearBoundOutputs();
}

Ort::Value Slice(const Ort::Value& flat, int64_t offset, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  auto* data = const_cast<float*>(flat.GetTensorData<float>());
  if (offset != 0) {
    if (flat.GetTensorMemoryInfo().GetAllocatorName() == kHandleMemory)
      throw Error(ErrorCode::kRuntime, "a part of a tensor on this device has no address");
    data += offset;
  }
  return Ort::Value::CreateTensor<float>(flat.GetTensorMemoryInfo(), data, static_cast<size_t>(count),
                                         shape.data(), shape.size());
}

DeviceMemoryPool::DeviceMemoryPool(const Device& device) : device_(device) {
  if (device.provider == "cpu") return;
  copy_.emplace(CopyGraph(), device, 1, /*arena=*/false);
  allocator_.emplace(copy_->session(), DeviceMemory(device));
}

Ort::Value DeviceMemoryPool::Vector(int64_t size) {
  return Translated(ErrorCode::kRuntime, "cannot allocate the training state", [&] {
    if (allocator_) return Ort::Value::CreateTensor<float>(*allocator_, &size, 1);
    Ort::AllocatorWithDefaultOptions host;
    return Ort::Value::CreateTensor<float>(host, &size, 1);
  });
}

Ort::Value DeviceMemoryPool::Vector(const std::vector<float>& values) {
  Ort::Value vector = Vector(static_cast<int64_t>(values.size()));
  Write(values, vector);
  return vector;
}

void DeviceMemoryPool::Write(const std::vector<float>& values, const Ort::Value& vector) {
  if (!copy_) {
    std::ranges::copy(values, const_cast<float*>(vector.GetTensorData<float>()));
    return;
  }
  copy_->BindInput("from", HostTensor(const_cast<float*>(values.data()), MakeShape(values)));
  copy_->BindOutput("to", vector);
  copy_->Run();
}

std::vector<float> DeviceMemoryPool::Read(const Ort::Value& vector) {
  std::vector<float> values(vector.GetTensorTypeAndShapeInfo().GetElementCount());
  Read(vector, values);
  return values;
}

void DeviceMemoryPool::Read(const Ort::Value& vector, std::span<float> values) {
  if (!copy_) {
    std::copy_n(vector.GetTensorData<float>(), values.size(), values.begin());
    return;
  }
  copy_->BindInput("from", vector);
  copy_->BindOutput("to", HostTensor(values.data(), {static_cast<int64_t>(values.size())}));
  copy_->Run();
}

void DeviceMemoryPool::Read(const Ort::Value& vector, int64_t offset, std::span<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  if (HasAddresses(device_)) {
    Read(Slice(vector, offset, {size}), values);
    return;
  }
  if (!part_) part_.emplace(PartGraph(), device_, 1, /*arena=*/false);
  int64_t begin = offset, end = offset + size;
  part_->BindInput("from", vector);
  part_->BindInput("begin", HostTensor(&begin, {1}));
  part_->BindInput("end", HostTensor(&end, {1}));
  part_->BindOutput("to", HostTensor(values.data(), {size}));
  part_->Run();
}

}  // namespace ort_ed
