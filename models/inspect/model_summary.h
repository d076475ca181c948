#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/support/energy_contract.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// By the same rules as the shipped runtime's (runtime/support/energy_contract.h). Throws kBadModel.
EnergyContract CheckContract(const onnx::ModelProto& model, const std::string& name);

struct TensorSummary {
  std::string name;
  std::vector<int64_t> shape;
  int64_t elements = 0;
};

struct OperatorSummary {
  std::string domain;  // "" is the standard
  std::string op;
  int64_t count = 0;
  std::optional<int64_t> flops_per_row;  // unknown where a shape is, or the cost of the operator
};

struct ModelSummary {
  EnergyContract contract;
  int64_t opset = 0;
  int64_t ir_version = 0;
  std::string producer;
  std::vector<TensorSummary> parameters;   // float initialisers
  std::vector<OperatorSummary> operators;  // by name; those of model-local functions and subgraphs too
  std::map<std::string, std::string> metadata;

  int64_t ParameterCount() const;
  std::optional<int64_t> FlopsPerRow() const;  // unknown if any operator's is
};

// Extents of the tensors of the main graph at batch 1; a tensor with an unknown extent is left out.
using TensorShapes = std::map<std::string, std::vector<int64_t>>;

// A floating-point operation is one multiplication, addition, comparison or elementary function. Nodes that
// do not depend on the input (J from G, say) are computed once, not per row: they count 0.
ModelSummary Summarise(const onnx::ModelProto& model, const std::string& name, const TensorShapes& shapes);

}  // namespace ort_ed
