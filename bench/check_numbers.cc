#include "bench/check_numbers.h"

#include <algorithm>
#include <cmath>

#include <onnx/onnx_pb.h>

namespace ort_ed {
namespace {

// FNV-1a.
uint64_t Hash(const std::string& name) {
  uint64_t key = 0xcbf29ce484222325;
  for (const unsigned char c : name) key = (key ^ c) * 0x100000001b3;
  return key;
}

// splitmix64.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Kernels [outputs, inputs, height, width] and matrices [inputs, outputs].
int64_t FanIn(const onnx::TensorProto& weight) {
  if (weight.dims_size() == 2) return weight.dims(0);
  return weight.dims(1) * weight.dims(2) * weight.dims(3);
}

void SetUniform(onnx::TensorProto& tensor, float bound) {
  int64_t count = 1;
  for (const int64_t extent : tensor.dims()) count *= extent;
  std::vector<float> values = NamedUniform(tensor.name(), count);
  for (float& value : values) value = bound * (2 * value - 1);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

}  // namespace

std::vector<float> NamedUniform(const std::string& name, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t z = Hash(name);
  for (float& value : values)
    value = static_cast<float>(Mix(z += 0x9e3779b97f4a7c15) >> 40) / static_cast<float>(1 << 24);
  return values;
}

std::vector<uint8_t> NamedBits(const std::string& name, int64_t count, float rate) {
  std::vector<uint8_t> bits;
  bits.reserve(static_cast<size_t>(count));
  for (const float value : NamedUniform(name, count)) bits.push_back(value < rate);
  return bits;
}

void SetNamedWeights(onnx::ModelProto& model) {
  auto& tensors = *model.mutable_graph()->mutable_initializer();
  const bool images = std::any_of(tensors.begin(), tensors.end(), [](auto& t) { return t.dims_size() == 4; });
  const float last = images ? 1000.0f : 10.0f;  // so that energies differ
  for (onnx::TensorProto& weight : tensors) {
    const size_t end = weight.name().rfind(".weight");
    if (end == std::string::npos) continue;
    const std::string layer = weight.name().substr(0, end);
    const float bound = (layer == "output" ? last : 1.0f) / std::sqrt(static_cast<float>(FanIn(weight)));
    SetUniform(weight, bound);
    for (onnx::TensorProto& bias : tensors)
      if (bias.name() == layer + ".bias") SetUniform(bias, bound);
  }
}

std::vector<double> MeanAndError(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

}  // namespace ort_ed
