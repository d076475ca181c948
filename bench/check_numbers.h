#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// What all sides of bench/peers.py start from, so that they can be seen to do the same work;
// bench/peers/common.py has the same numbers.

// Multiples of 2^-24 from 0 to 1 that depend on the name alone.
std::vector<float> NamedUniform(const std::string& name, int64_t count);
// Of these, ones where they are below `rate`.
std::vector<uint8_t> NamedBits(const std::string& name, int64_t count, float rate = 0.5f);
// Gives weights and biases of the built-in networks their numbers, by their names.
void SetNamedWeights(onnx::ModelProto& model);
// The mean and its standard error.
std::vector<double> MeanAndError(std::span<const double> values);

}  // namespace ort_ed
