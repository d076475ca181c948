#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ort_ed {

// Models for tests, as the bytes of their files; this header needs no protobuf.

// From ONNX's textual form:
//   <ir_version: 8, opset_import: ["": 17]>
//   g (float[batch, 3] x) => (float[batch] energy) { ... }
std::string ModelFromText(const std::string& text);

// U(x) = sum_i (i + 1) x_i: energies that a reader can add up.
std::string LinearModel(int64_t dimension);

// U of three bits by Cast and Gather from a table, 0, 2, 1, 0.5, 3, 1, 0, 2 for states 0 to 7, where x_i is
// bit i: no gradient sees it.
std::string LookupModel();

// A multilayer perceptron with fixed pseudo-random weights.
std::string MlpModel(int64_t dimension, const std::vector<int64_t>& hidden);

// Convolutions 3 x 3 on a side x side image with `channels` channels, then the mean.
std::string ConvolutionModel(int64_t side, int64_t channels, int layers);

std::string WithMetadata(const std::string& model, const std::string& key, const std::string& value);

// The values of the initialiser move to the file `location`; returns them.
struct ExternalModel {
  std::string model;
  std::string values;
};
ExternalModel WithExternalData(const std::string& model, const std::string& initializer,
                               const std::string& location);

// A model (not a valid one) with a tensor at `location` in every place that may hold one.
std::string ExternalTensorsEverywhere(const std::string& location);

// Adds the gradient of LinearModel as a fragment, the way `ort-ed export` does.
std::string WithLinearGradient(const std::string& linear_model, int64_t dimension);

inline std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace ort_ed
