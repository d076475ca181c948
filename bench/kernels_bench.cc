// Our CPU kernels against ONNX Runtime's own operators: layers of the two reference networks, forward and
// with all gradients, through a session each. Arguments: our kernels (1) or standard operators (0), threads.
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/graph/graph_builder.h"
#include "runtime/session.h"
#include "runtime/support/parallel_for.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/kernels/ops/cpu_ops.h"
#include "trainer/passes/use_cpu_kernels.h"

namespace ort_ed {
namespace {

using Shape = std::vector<int64_t>;

struct Layer {
  const char* name;
  std::vector<Shape> inputs;  // x first, then the parameters
  Value (*energy)(const std::vector<Value>& inputs);
  double forward_flops;  // 0: elementwise
  bool input_gradient = true;
};

constexpr int64_t kImages = 330, kRows = 4224;

Value Convolution(const std::vector<Value>& in, int64_t kernel, int64_t stride) {
  const int64_t pad = kernel / 2;
  return Op("Conv", {in[0], in[1], in[2]},
            {{"pads", Shape{pad, pad, pad, pad}},
             {"strides", Shape{stride, stride}},
             {"kernel_shape", Shape{kernel, kernel}}});
}

Layer ConvLayer(const char* name, int64_t in_channels, int64_t side, int64_t out_side, int64_t kernel,
                Value (*energy)(const std::vector<Value>&), bool input_gradient = true) {
  constexpr int64_t kChannels = 64;
  return {name,
          {{kImages, in_channels, side, side}, {kChannels, in_channels, kernel, kernel}, {kChannels}},
          energy,
          2.0 * kImages * in_channels * kChannels * kernel * kernel * out_side * out_side,
          input_gradient};
}

Layer DenseLayer(const char* name, int64_t in, int64_t out, bool input_gradient) {
  return {name,
          {{kRows, in}, {in, out}, {out}},
          [](const std::vector<Value>& v) {
            return Op("Gemm", {v[0], v[1], v[2]});
          },
          2.0 * kRows * in * out,
          input_gradient};
}

std::vector<Layer> Layers() {
  return {
      ConvLayer(
          "conv3x3_28_1to64", 1, 28, 28, 3, [](const auto& v) { return Convolution(v, 3, 1); }, false),
      ConvLayer("conv3x3_28_stride2", 64, 28, 14, 3, [](const auto& v) { return Convolution(v, 3, 2); }),
      ConvLayer("conv1x1_28_stride2", 64, 28, 14, 1, [](const auto& v) { return Convolution(v, 1, 2); }),
      ConvLayer("conv3x3_14", 64, 14, 14, 3, [](const auto& v) { return Convolution(v, 3, 1); }),
      ConvLayer("conv3x3_7", 64, 7, 7, 3, [](const auto& v) { return Convolution(v, 3, 1); }),
      DenseLayer("dense_32to256", 32, 256, false),
      DenseLayer("dense_256to256", 256, 256, true),
      {"swish", {{kRows, 256}, {}}, [](const auto& v) { return v[0] * Sigmoid(v[1] * v[0]); }, 0},
  };
}

// One layer as a model: its result, or the gradients of a sum of its results.
onnx::ModelProto MakeModel(const Layer& layer, bool gradients, bool cpu_kernels) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name(layer.name);
  GraphBuilder builder(model);
  std::vector<Value> inputs;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    inputs.push_back(builder.Input("in" + std::to_string(i), layer.inputs[i]));
  }
  builder.Output(builder.Named(layer.energy(inputs), "y"), {});
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  if (cpu_kernels) UseCpuKernels(model);
  if (!gradients) return model;
  GraphBuilder more(model, "grad/");
  // Weights that differ, so that nothing is simplified away.
  const Value weights = Op("Tanh", {more.Existing("y")});
  DifferentiateRequest request{"y", weights.name, {}};
  for (size_t i = layer.input_gradient ? 0 : 1; i < inputs.size(); ++i)
    request.with_respect_to.push_back(inputs[i].name);
  model.mutable_graph()->clear_output();
  for (const auto& [tensor, gradient] : Differentiate(more, request)) {
    model.mutable_graph()->add_output()->set_name(gradient);
  }
  return model;
}

Ort::Value RandomTensor(const Shape& shape, uint64_t stream) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value = Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size());
  uint64_t state = stream + 1;
  float* data = value.GetTensorMutableData<float>();
  for (size_t i = 0; i < value.GetTensorTypeAndShapeInfo().GetElementCount(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    data[i] = static_cast<float>(static_cast<int64_t>(state >> 40) - (1 << 23)) / (1 << 23);
  }
  return value;
}

void Run(benchmark::State& state, const Layer& layer, bool gradients) {
  const std::string bytes = MakeModel(layer, gradients, state.range(0) != 0).SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(Device{}, static_cast<int>(state.range(1)));
  RegisterCpuKernels(options);
  Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, layer.name);
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;
  std::vector<const char*> input_names, output_names;
  std::vector<Ort::Value> values;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    names.push_back("in" + std::to_string(i));
    values.push_back(RandomTensor(layer.inputs[i], i));
  }
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    names.push_back(session.GetOutputNameAllocated(i, allocator).get());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    (i < values.size() ? input_names : output_names).push_back(names[i].c_str());
  }
  for (auto _ : state) {
    session.Run({}, input_names.data(), values.data(), values.size(), output_names.data(),
                output_names.size());
  }
  const double passes = gradients ? (layer.input_gradient ? 3 : 2) : 1;
  if (layer.forward_flops > 0) {
    state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * passes * layer.forward_flops,
                                                   benchmark::Counter::kIsIterationInvariantRate);
  }
}

void Register(const Layer& layer, bool gradients) {
  const std::string name = std::string(layer.name) + (gradients ? "/with_gradients" : "/forward");
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { Run(state, layer, gradients); })
      ->ArgNames({"ours", "threads"})
      ->ArgsProduct({{1, 0}, {1, ThreadCount(0)}})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  for (const auto& layer : ort_ed::Layers()) {
    for (bool gradients : {false, true}) ort_ed::Register(layer, gradients);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
