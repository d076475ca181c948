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

inline constexpr char kActivationHelp[] = "swish, relu, tanh or softplus";
inline constexpr char kSlopeHelp[] =
    "of swish x * sigmoid(slope * x): fixed (1), or learned, one a layer or one a unit: layer, unit";

// The function that options `activation` and `slope` choose. `unit_shape`: of one learned slope a unit,
// broadcast against x.
Value Activation(const EnergyContext& context, const std::string& name, const Value& x,
                 std::span<const int64_t> unit_shape);

}  // namespace ort_ed
