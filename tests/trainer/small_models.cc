#include "tests/trainer/small_models.h"

#include <bit>
#include <cstring>

#include "models/graph/graph_builder.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

using Shape = std::vector<int64_t>;

void FinishEnergy(GraphBuilder& builder, const Value& column) {
  builder.Output(builder.Named(Squeeze(column, {1}), "energy"), Shape{-1});
}

std::vector<float> Noise(RandomStream& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = 2 * random.Uniform() - 1;
  return values;
}

}  // namespace

onnx::ModelProto TabularModel(int dimension, const std::vector<double>& theta) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("tabular");
  GraphBuilder builder(model);
  const int64_t states = int64_t{1} << dimension;
  const Value x = builder.Input("x", Shape{-1, dimension});
  // The Hamming distance of x to each state s is x . (1 - 2 s) + |s|; relu(1 - distance) picks x's own.
  std::vector<float> directions(static_cast<size_t>(dimension * states)), ones(static_cast<size_t>(states));
  for (int64_t s = 0; s < states; ++s) {
    ones[s] = static_cast<float>(std::popcount(static_cast<uint64_t>(s)));
    for (int i = 0; i < dimension; ++i) directions[i * states + s] = (s >> i & 1) ? -1.0f : 1.0f;
  }
  const Value distance = MatMul(x, builder.Constant(Shape{dimension, states}, directions)) +
                         builder.Constant(Shape{1, states}, ones);
  const std::vector<float> values(theta.begin(), theta.end());
  FinishEnergy(builder,
               MatMul(Op("Relu", {1.0f - distance}), builder.Parameter("theta", Shape{states, 1}, values)));
  return model;
}

onnx::ModelProto PerceptronModel(int dimension, int width, uint64_t seed) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("perceptron");
  GraphBuilder builder(model);
  RandomStream random(seed, 0x4D4C50, 0, 0);
  const Value x = builder.Input("x", Shape{-1, dimension});
  const Value w1 = builder.Parameter("w1", Shape{dimension, width}, Noise(random, dimension * width));
  const Value b1 = builder.Parameter("b1", Shape{width}, Noise(random, width));
  const Value w2 = builder.Parameter("w2", Shape{width, 1}, Noise(random, width));
  const Value b2 = builder.Parameter("b2", Shape{}, Noise(random, 1));
  builder.Parameter("unused", Shape{3}, Noise(random, 3));
  FinishEnergy(builder, MatMul(Op("Tanh", {MatMul(x, w1) + b1}), w2) + b2);
  return model;
}

onnx::ModelProto QuadraticModel(int dimension) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("quadratic");
  GraphBuilder builder(model);
  const Value x = builder.Input("x", Shape{-1, dimension});
  const Value coupling =
      builder.Parameter("coupling", Shape{dimension, dimension}, std::vector<float>(dimension * dimension));
  const Value field = builder.Parameter("field", Shape{dimension, 1}, std::vector<float>(dimension));
  FinishEnergy(builder, -(ReduceSum(MatMul(x, coupling) * x, {1}, true) + MatMul(x, field)));
  return model;
}

std::vector<float> ParameterValues(const onnx::ModelProto& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() != name) continue;
    std::vector<float> values(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }
  return {};
}

}  // namespace ort_ed
