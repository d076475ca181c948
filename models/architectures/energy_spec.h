#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ort_ed/options.h"
#include "ort_ed/variables.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// One of the built-in energy models, as `ort-ed new` and a training configuration name it.
struct EnergySpec {
  Choice architecture;                    // one of Architectures(), with options of its own
  int64_t dimension = 0;                  // D; 0: the product of image_shape
  Variables variables = {};               // over the D bits; of no dimension: all are binary
  std::vector<int64_t> image_shape = {};  // {height, width} where the variables form an image
  std::vector<float> base_mean = {};      // P(x_i = 1) of the Bernoulli base distribution; empty: none
  uint64_t seed = 0;                      // of the initial parameters
};

// The energy model contract as an ONNX model with initial parameters and metadata: input `x` float32
// [batch, D], output `energy` float32 [batch]. Float initialisers are the parameters. The same spec gives the
// same bytes. Throws OptionError where one option is to blame; an unknown name lists the candidates.
onnx::ModelProto BuildModel(const EnergySpec& spec);

// "28x28" as {28, 28}. Throws kInvalidArgument.
std::vector<int64_t> ParseImageShape(std::string_view text);

}  // namespace ort_ed
