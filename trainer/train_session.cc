#include "trainer/train_session.h"

#include "models/graph_builder.h"
#include "runtime/session.h"
#include "trainer/kernels/cpu_ops.h"

namespace ort_ed {
namespace {

Ort::Session Open(const onnx::ModelProto& model, const Device& device, int threads) {
  const std::string bytes = model.SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(device, threads);
  // The pattern of the first run becomes one block for all later ones, while the first run's blocks stay in
  // the arena: activations would take their memory twice. Without it they take it once, and no longer.
  options.DisableMemPattern();
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

std::vector<int64_t> LengthOf(const std::vector<float>& values) {
  return {static_cast<int64_t>(values.size())};
}

}  // namespace

TrainSession::TrainSession(const onnx::ModelProto& model, const Device& device, int threads)
    : session_(Open(model, device, threads)), binding_(session_) {}

void TrainSession::BindInput(const std::string& name, const Ort::Value& tensor) {
  Translated(ErrorCode::kRuntime, "cannot give '" + name + "' to the training graph",
             [&] { binding_.BindInput(name.c_str(), tensor); });
}

void TrainSession::BindOutput(const std::string& name, const Ort::Value& tensor) {
  Translated(ErrorCode::kRuntime, "cannot take '" + name + "' from the training graph",
             [&] { binding_.BindOutput(name.c_str(), tensor); });
}

void TrainSession::Run() {
  Translated(ErrorCode::kRuntime,
             "cannot run the training graph (if memory is short, use smaller micro-batches)", [&] {
               binding_.SynchronizeInputs();
               session_.Run(Ort::RunOptions(), binding_);
               binding_.SynchronizeOutputs();
             });
  binding_.ClearBoundInputs();
  binding_.ClearBoundOutputs();
}

DeviceMemoryPool::DeviceMemoryPool(const Device& device)
    : copy_(CopyGraph(), device, 1), allocator_(copy_.session(), DeviceMemory(device)) {}

Ort::Value DeviceMemoryPool::Vector(const std::vector<float>& values) {
  const std::vector<int64_t> shape = LengthOf(values);
  Ort::Value vector = Translated(ErrorCode::kRuntime, "cannot allocate the training state", [&] {
    return Ort::Value::CreateTensor<float>(allocator_, shape.data(), shape.size());
  });
  copy_.BindInput("from", HostTensor(const_cast<float*>(values.data()), shape));
  copy_.BindOutput("to", vector);
  copy_.Run();
  return vector;
}

std::vector<float> DeviceMemoryPool::Read(const Ort::Value& vector) {
  std::vector<float> values(vector.GetTensorTypeAndShapeInfo().GetElementCount());
  copy_.BindInput("from", vector);
  copy_.BindOutput("to", HostTensor(values.data(), LengthOf(values)));
  copy_.Run();
  return values;
}

}  // namespace ort_ed
