#include "tests/support/onnx_models.h"

#include <cmath>
#include <stdexcept>

#include <onnx/defs/parser.h>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "ort_ed/random.h"
#include "runtime/support/encoding/base64.h"

namespace ort_ed {
namespace {

onnx::ModelProto Parse(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) throw std::runtime_error("the test's model does not parse");
  return model;
}

Value Weights(GraphBuilder& builder, const std::string& name, const std::vector<int64_t>& shape,
              int64_t fan_in) {
  constexpr uint32_t kPurpose = 0x7e57;
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  RandomStream random(1, kPurpose, name.size(), static_cast<uint64_t>(count));
  const float scale = std::sqrt(3.0f / static_cast<float>(fan_in));
  for (float& value : values) value = scale * (2 * random.Uniform() - 1);
  return builder.Parameter(name, shape, values);
}

Value Swish(const Value& x) { return x * Sigmoid(x); }

}  // namespace

std::string ModelFromText(const std::string& text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  return model.SerializeAsString();
}

std::string LinearModel(int64_t dimension) {
  onnx::ModelProto model;
  GraphBuilder builder(model);
  const Value x = builder.Input(kInputName, std::vector<int64_t>{-1, dimension});
  std::vector<float> weights(static_cast<size_t>(dimension));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i + 1);
  const Value w = builder.Parameter("w", std::vector{dimension}, weights);
  builder.Output(builder.Named(ReduceSum(x * w, {1}), kEnergyOutputName), std::vector<int64_t>{-1});
  return model.SerializeAsString();
}

std::string LookupModel() {
  return ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
    lookup (float[batch, 3] x) => (float[batch] energy)
    <float[8] table = {0, 2, 1, 0.5, 3, 1, 0, 2}>
    {
      axes = Constant<value = int64[1] {1}>()
      powers = Constant<value = float[3] {1.0, 2.0, 4.0}>()
      products = Mul(x, powers)
      sum = ReduceSum<keepdims = 0>(products, axes)
      state = Cast<to = 7>(sum)
      energy = Gather(table, state)
    })");
}

std::string MlpModel(int64_t dimension, const std::vector<int64_t>& hidden) {
  onnx::ModelProto model;
  GraphBuilder builder(model);
  Value h = builder.Input(kInputName, std::vector<int64_t>{-1, dimension});
  int64_t width = dimension;
  for (size_t layer = 0; layer < hidden.size(); ++layer) {
    const std::string suffix(layer + 1, 'w');
    h = Swish(MatMul(h, Weights(builder, suffix, {width, hidden[layer]}, width)) +
              Weights(builder, "b" + suffix, {hidden[layer]}, width));
    width = hidden[layer];
  }
  const Value energy = Squeeze(MatMul(h, Weights(builder, "last", {width, 1}, width)), {1});
  builder.Output(builder.Named(energy, kEnergyOutputName), std::vector<int64_t>{-1});
  return model.SerializeAsString();
}

std::string ConvolutionModel(int64_t side, int64_t channels, int layers) {
  onnx::ModelProto model;
  GraphBuilder builder(model);
  const Value x = builder.Input(kInputName, std::vector<int64_t>{-1, side * side});
  Value h = Reshape(x, std::vector<int64_t>{-1, 1, side, side});
  int64_t from = 1;
  for (int layer = 0; layer < layers; ++layer) {
    const Value w =
        Weights(builder, std::string(static_cast<size_t>(layer) + 1, 'w'), {channels, from, 3, 3}, 9 * from);
    h = Swish(Op("Conv", {h, w}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    from = channels;
  }
  const Value energy = ReduceMean(h, {1, 2, 3});
  builder.Output(builder.Named(energy, kEnergyOutputName), std::vector<int64_t>{-1});
  return model.SerializeAsString();
}

std::string WithMetadata(const std::string& bytes, const std::string& key, const std::string& value) {
  onnx::ModelProto model = Parse(bytes);
  SetMetadata(model, key, value);
  return model.SerializeAsString();
}

ExternalModel WithExternalData(const std::string& bytes, const std::string& initializer,
                               const std::string& location) {
  onnx::ModelProto model = Parse(bytes);
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() != initializer) continue;
    const std::string values = tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&](const std::string& key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    add("offset", "0");
    add("length", std::to_string(values.size()));
    return {model.SerializeAsString(), values};
  }
  throw std::runtime_error("no initializer " + initializer);
}

std::string ExternalTensorsEverywhere(const std::string& location) {
  onnx::TensorProto tensor;
  auto* entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  onnx::AttributeProto attribute;
  *attribute.mutable_t() = tensor;
  *attribute.add_tensors() = tensor;
  *attribute.mutable_sparse_tensor()->mutable_values() = tensor;
  *attribute.add_sparse_tensors()->mutable_indices() = tensor;
  *attribute.mutable_g()->add_initializer() = tensor;
  *attribute.add_graphs()->add_initializer() = tensor;
  onnx::ModelProto model;
  *model.mutable_graph()->add_initializer() = tensor;
  *model.mutable_graph()->add_sparse_initializer()->mutable_values() = tensor;
  *model.mutable_graph()->add_node()->add_attribute() = attribute;
  onnx::FunctionProto& function = *model.add_functions();
  function.set_domain("local");
  *function.add_node()->add_attribute() = attribute;
  return model.SerializeAsString();
}

std::string WithLinearGradient(const std::string& linear_model, int64_t dimension) {
  onnx::ModelProto whole = Parse(linear_model);
  const int nodes = whole.graph().node_size();
  GraphBuilder builder(whole, "gradient_");
  const Value x = builder.Existing(kInputName);
  const Value gradient = x * 0.0f + builder.Existing("w");
  builder.Output(builder.Named(gradient, kGradientOutputName), std::vector<int64_t>{-1, dimension});

  onnx::ModelProto fragment;
  for (int i = nodes; i < whole.graph().node_size(); ++i)
    *fragment.mutable_graph()->add_node() = whole.graph().node(i);
  *fragment.mutable_graph()->add_output() = whole.graph().output(1);
  return WithMetadata(linear_model, metadata_key::kGradientFragment,
                      Base64Encode(Bytes(fragment.SerializeAsString())));
}

}  // namespace ort_ed
