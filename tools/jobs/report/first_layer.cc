#include "tools/jobs/report/first_layer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ort_ed {
namespace {

std::vector<float> ReadValues(const onnx::TensorProto& tensor) {
  std::vector<float> values(tensor.float_data().begin(), tensor.float_data().end());
  if (!values.empty()) return values;
  values.resize(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(float));
  return values;
}

bool HasSide(const onnx::TensorProto& tensor, int64_t dimension) {
  return tensor.data_type() == onnx::TensorProto::FLOAT && tensor.dims_size() == 2 &&
         (tensor.dims(0) == dimension || tensor.dims(1) == dimension) && tensor.dims(0) > 1 &&
         tensor.dims(1) > 1;
}

// Of the network rather than of a learned base below it.
const onnx::TensorProto* FindMatrix(const onnx::ModelProto& model, int64_t dimension) {
  const onnx::TensorProto* of_base = nullptr;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (!HasSide(tensor, dimension)) continue;
    if (!tensor.name().starts_with(kBaseTensorPrefix)) return &tensor;
    if (of_base == nullptr) of_base = &tensor;
  }
  return of_base;
}

}  // namespace

std::optional<FirstLayer> ReadFirstLayer(const LoadedModel& model, int64_t most) {
  const int64_t dimension = model.dimension();
  const onnx::TensorProto* tensor = FindMatrix(model.proto(), dimension);
  if (tensor == nullptr) return std::nullopt;
  const bool by_column = tensor->dims(0) == dimension;
  const int64_t units = tensor->dims(by_column ? 1 : 0);
  const std::vector<float> values = ReadValues(*tensor);
  if (std::ssize(values) != units * dimension) return std::nullopt;
  const auto weight = [&](int64_t unit, int64_t i) {
    return double{values[static_cast<size_t>(by_column ? i * units + unit : unit * dimension + i)]};
  };
  std::vector<double> squares(static_cast<size_t>(units));
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t i = 0; i < dimension; ++i)
      squares[static_cast<size_t>(unit)] += weight(unit, i) * weight(unit, i);
  std::vector<int64_t> order(static_cast<size_t>(units));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](int64_t unit) { return squares[static_cast<size_t>(unit)]; });
  FirstLayer layer{.name = tensor->name(), .units = units, .shown = std::min(units, most), .weights = {}};
  for (int64_t k = 0; k < layer.shown; ++k)
    for (int64_t i = 0; i < dimension; ++i) layer.weights.push_back(weight(order[static_cast<size_t>(k)], i));
  return layer;
}

}  // namespace ort_ed
