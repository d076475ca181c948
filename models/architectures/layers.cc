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

Value Swish(const EnergyContext& context, Slope slope, const std::string& name, const Value& x,
            std::span<const int64_t> unit_shape) {
  if (slope == Slope::kFixed) return x * Sigmoid(x);
  const std::vector<int64_t> shape =
      slope == Slope::kUnit ? std::vector(unit_shape.begin(), unit_shape.end()) : std::vector<int64_t>{};
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

void Activation::Describe(Declare<Activation>& declare) {
  declare("activation", &Activation::function,
          {{"swish", ActivationFunction::kSwish},
           {"relu", ActivationFunction::kRelu},
           {"tanh", ActivationFunction::kTanh},
           {"softplus", ActivationFunction::kSoftplus}},
          "swish, relu, tanh or softplus");
  declare(
      "slope", &Activation::slope,
      {{"fixed", Slope::kFixed}, {"layer", Slope::kLayer}, {"unit", Slope::kUnit}},
      "of swish x * sigmoid(slope * x): fixed (1), or learned, one per layer or one per unit: layer, unit");
}

Value Activate(const EnergyContext& context, const Activation& activation, const std::string& name,
               const Value& x, std::span<const int64_t> unit_shape) {
  switch (activation.function) {
    case ActivationFunction::kSwish:
      return Swish(context, activation.slope, name, x, unit_shape);
    case ActivationFunction::kRelu:
      return Op("Relu", {x});
    case ActivationFunction::kTanh:
      return Op("Tanh", {x});
    case ActivationFunction::kSoftplus:
      break;
  }
  return Softplus(x);
}

}  // namespace ort_ed
