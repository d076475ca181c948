#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/architectures/energy_context.h"

namespace ort_ed {

// Layers of the networks. Weights and biases start uniform on +-1/sqrt(fan in), PyTorch's default.

// x [batch, inputs] -> [batch, outputs]. One Gemm: ONNX Runtime would fuse MatMul and Add into it anyway.
Value Linear(const EnergyContext& context, const std::string& name, const Value& x, int64_t inputs,
             int64_t outputs);

struct ConvolutionShape {
  int64_t inputs;
  int64_t outputs;
  int64_t kernel;  // square, padded by kernel / 2
  int64_t stride;
};
Value Convolution(const EnergyContext& context, const std::string& name, const Value& x,
                  const ConvolutionShape& shape);

enum class ActivationFunction { kSwish, kRelu, kTanh, kSoftplus };
enum class Slope { kFixed, kLayer, kUnit };

// Options of the networks.
struct Activation {
  ActivationFunction function = ActivationFunction::kSwish;
  Slope slope = Slope::kLayer;

  static void Describe(Declare<Activation>& declare);
};

// `unit_shape`: of the learned slopes where every unit has its own, broadcast against x.
Value Activate(const EnergyContext& context, const Activation& activation, const std::string& name,
               const Value& x, std::span<const int64_t> unit_shape);

}  // namespace ort_ed
