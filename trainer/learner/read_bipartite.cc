#include "trainer/learner/read_bipartite.h"

#include <algorithm>

#include <onnx/defs/tensor_proto_util.h>

namespace ort_ed {

BipartiteForm ReadBipartite(const BipartiteTerms& terms, const InitialiserValues& values) {
  const auto read = [&](const BipartiteTerms::Tensor& tensor) {
    return tensor.fixed ? *tensor.fixed : values(tensor.name);
  };
  const auto d = static_cast<size_t>(terms.dimension), h = static_cast<size_t>(terms.units);
  BipartiteForm form{std::vector<float>(d), read(terms.weight), std::vector<float>(h)};
  if (terms.transposed) {
    const std::vector<float> by_unit = form.weights;
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < h; ++j) form.weights[i * h + j] = by_unit[j * d + i];
  }
  if (terms.bias) form.biases = read(*terms.bias);
  for (const auto& [scale, tensor] : terms.linear) {
    const std::vector<float> own = read(tensor);
    for (size_t i = 0; i < d; ++i) form.fields[i] += scale * own[i];
  }
  return form;
}

std::shared_ptr<const BipartiteForm> ReadBipartite(const onnx::ModelProto& model) {
  const std::optional<BipartiteTerms> terms = FindBipartiteTerms(model);
  if (!terms) return nullptr;
  return std::make_shared<BipartiteForm>(ReadBipartite(*terms, [&](const std::string& name) {
    const auto found = std::ranges::find(model.graph().initializer(), name, &onnx::TensorProto::name);
    return onnx::ParseData<float>(&*found);
  }));
}

}  // namespace ort_ed
