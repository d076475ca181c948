#include "models/architectures/layers.h"

#include <cmath>
#include <vector>

namespace ort_ed {
namespace {

struct WeightAndBias {
  Value weight;
  Value bias;
};

WeightAndBias UniformParameters(const EnergyContext& context, const std::string& name,
                                const std::vector<int64_t>& weight_shape, int64_t outputs, int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  const std::vector<int64_t> bias_shape = {outputs};
  GraphBuilder& graph = *context.x.graph;
  const Value weight =
      graph.Parameter(name + ".weight", weight_shape, context.initialiser.Uniform(weight_shape, bound));
  const Value bias =
      graph.Parameter(name + ".bias", bias_shape, context.initialiser.Uniform(bias_shape, bound));
  return {weight, bias};
}

Value Swish(const EnergyContext& context, const std::string& name, const Value& x,
            std::span<const int64_t> unit_shape) {
  static constexpr std::string_view kSlopes[] = {"fixed", "layer", "unit"};
  const std::string slope = context.options.Choice("slope", kSlopes);
  if (slope == "fixed") return x * Sigmoid(x);
  const std::vector<int64_t> shape =
      slope == "unit" ? std::vector(unit_shape.begin(), unit_shape.end()) : std::vector<int64_t>{};
  const Value beta = x.graph->Parameter(name + ".slope", shape, context.initialiser.Fill(shape, 1));
  return x * Sigmoid(beta * x);
}

}  // namespace

Value Linear(const EnergyContext& context, const std::string& name, const Value& x, int64_t inputs,
             int64_t outputs) {
  const auto [weight, bias] = UniformParameters(context, name, {inputs, outputs}, outputs, inputs);
  return Op("Gemm", {x, weight, bias});
}

Value Convolution(const EnergyContext& context, const std::string& name, const Value& x,
                  const ConvolutionShape& shape) {
  const int64_t kernel = shape.kernel;
  const int64_t padding = kernel / 2;
  const auto [weight, bias] = UniformParameters(context, name, {shape.outputs, shape.inputs, kernel, kernel},
                                                shape.outputs, shape.inputs * kernel * kernel);
  return Op("Conv", {x, weight, bias},
            {{"kernel_shape", std::vector{kernel, kernel}},
             {"strides", std::vector{shape.stride, shape.stride}},
             {"pads", std::vector{padding, padding, padding, padding}}});
}

Value Activation(const EnergyContext& context, const std::string& name, const Value& x,
                 std::span<const int64_t> unit_shape) {
  static constexpr std::string_view kActivations[] = {"swish", "relu", "tanh", "softplus"};
  const std::string activation = context.options.Choice("activation", kActivations);
  if (activation == "swish") return Swish(context, name, x, unit_shape);
  if (activation == "relu") return Op("Relu", {x});
  if (activation == "tanh") return Op("Tanh", {x});
  return Softplus(x);
}

}  // namespace ort_ed
