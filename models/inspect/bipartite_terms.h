#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// What the energy of a restricted Boltzmann machine is made of, as its graph shows it:
//   U(x) = constant + sum of terms (scale * values . x) - sum over units of softplus(x weight + bias).
struct BipartiteTerms {
  struct Tensor {
    std::string name;                         // of an initialiser ...
    std::optional<std::vector<float>> fixed;  // ... or these values
  };
  struct Linear {
    float scale;
    Tensor values;
  };
  int64_t dimension = 0, units = 0;
  Tensor weight;
  bool transposed = false;  // the weight is units x dimension
  std::optional<Tensor> bias;
  std::vector<Linear> linear;

  std::vector<std::string> Initialisers() const;  // that it names
};

// Nothing where the graph does not show just that.
std::optional<BipartiteTerms> FindBipartiteTerms(const onnx::ModelProto& model);

}  // namespace ort_ed
