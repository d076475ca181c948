#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/variables.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// Puts an energy model on top of a product distribution over its variables, which its metadata tell: U(x)
// becomes U(x) - log p0(x) with p0(x_i = 1) = mean[i], as constants of the graph (not trained), and the mean
// into the metadata; a log Z and a gradient that the metadata held are dropped. Works on any model that keeps
// the energy model contract, also a user's own. Throws kInvalidArgument for a mean of another width, a mean
// outside (0, 1) (smooth it first) or whose states do not add up to 1, or a model that already has a base
// distribution; kBadModel where the contract is broken.
void AddBaseDistribution(onnx::ModelProto& model, std::span<const float> mean);

// Those of the metadata, or binary ones. Throws kBadData where they cannot be read.
Variables GetVariables(const onnx::ModelProto& model, int64_t dimension);

// mean * (1 - 2 s) + 2 s / K for a variable of K states, 2 of a binary one: keeps every variable away from 0
// and 1, so that log p0 stays finite. Throws OptionError for a smoothing that does not.
std::vector<float> SmoothedMean(std::span<const double> mean, double smoothing, const Variables& variables);
inline std::vector<float> SmoothedMean(std::span<const double> mean, double smoothing) {
  return SmoothedMean(mean, smoothing, Variables::Binary(static_cast<int64_t>(mean.size())));
}

}  // namespace ort_ed
