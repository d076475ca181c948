#pragma once

#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// An energy for each state: U(x) = theta[x], where bit i of the number x is coordinate i. Parameter: "theta".
onnx::ModelProto TabularModel(int dimension, const std::vector<double>& theta);

// A perceptron with one hidden layer of `width` and tanh. Parameters: "w1" [D, width], "b1" [width],
// "w2" [width, 1], "b2" (a scalar). And "unused", which the energy does not depend on.
onnx::ModelProto PerceptronModel(int dimension, int width, uint64_t seed);

// U(x) = -x' J x - h' x on bits. Parameters: "coupling" [D, D], "field" [D, 1].
onnx::ModelProto QuadraticModel(int dimension);

// The float initialiser `name`.
std::vector<float> ParameterValues(const onnx::ModelProto& model, const std::string& name);

}  // namespace ort_ed
