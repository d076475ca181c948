#pragma once

#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// A float initialiser that looks like a constant or a buffer of the program that the model comes from, not
// like a parameter.
struct Buffer {
  std::string name;
  std::string why;  // "holds -inf"
};

// The float initialisers of a model that hold anything, in its order.
struct SortedInitialisers {
  std::vector<std::string> parameters;
  std::vector<Buffer> buffers;
  std::vector<std::string> masked;  // parameters into which a mask was multiplied: their zeros are no values
};

// By values, uses and names. Exporters store all of these as initialisers: masks, positions, lifted constants
// of normalisations, exponents, scales, statistics of BatchNormalization.
SortedInitialisers SortInitialisers(const onnx::ModelProto& model);

}  // namespace ort_ed
