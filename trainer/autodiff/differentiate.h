#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/graph/graph_builder.h"

namespace ort_ed {

struct DifferentiateRequest {
  std::string output;  // the tensor to differentiate, e.g. "energy"
  // A tensor of its shape: the weights c of sum_i c_i * output_i. Empty: all ones.
  std::string output_gradient;
  std::vector<std::string> with_respect_to;  // initialisers, inputs or intermediate tensors
};

// Appends to the builder's model the nodes that compute d(sum_i c_i * output_i)/dv for each v of
// `with_respect_to` and returns the name of each gradient tensor, of v's type and shape; a v that does not
// influence the output maps to "" (a true zero). Standard ONNX operators only. Only nodes between the v and
// the output are looked at. Throws kBadModel that names node and operator where a rule is missing: never a
// silent zero. The model must be one that ONNX Runtime accepts and in the form that
// PrepareForDifferentiation() (prepare_model.h) gives to users' models.
std::map<std::string, std::string> Differentiate(GraphBuilder& builder, const DifferentiateRequest& request);

// How often Differentiate() was called so far, for tests that keep the number down.
int64_t DifferentiationCount();

// The nodes between the v and the output that have no rule; empty where Differentiate() finds one for each.
std::vector<onnx::NodeProto> NodesWithoutRule(GraphBuilder& builder, const DifferentiateRequest& request);

// The nodes through which the output depends on the values of the v without a slope: casts to integers,
// comparisons, ArgMax, rounding ... Empty where the gradient sees all. What only chooses between the branches
// of a Where that have slopes of their own does not count: so are kinks written, as that of ReLU.
std::vector<onnx::NodeProto> NodesWithoutSlope(GraphBuilder& builder, const DifferentiateRequest& request);

}  // namespace ort_ed
