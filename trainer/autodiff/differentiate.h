#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/graph_builder.h"

namespace ort_ed {

struct DifferentiateRequest {
  std::string output;                        // the tensor to differentiate, e.g. "energy"
  std::string output_gradient;               // a tensor of its shape: the weights c of sum_i c_i * output_i
  std::vector<std::string> with_respect_to;  // initialisers or inputs
};

// Appends to the builder's model the nodes that compute d(sum_i c_i * output_i)/dv for each v of
// `with_respect_to` and returns the name of each gradient tensor; a v that does not influence the output maps
// to "" (a true zero). Standard ONNX operators only. `shapes` tells rank and known extents of every tensor on
// the path (see infer_shapes.h). Throws kBadModel that names node and operator where a rule is missing: never
// a silent zero.
std::map<std::string, std::string> Differentiate(GraphBuilder& builder, const DifferentiateRequest& request);

}  // namespace ort_ed
