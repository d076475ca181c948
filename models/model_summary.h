#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// How a model keeps the energy model contract.
struct EnergyContract {
  std::string input;   // float32 [batch, dimension]
  std::string output;  // float32 [batch], or [batch, 1] if energy_is_column
  int64_t dimension = 0;
  bool energy_is_column = false;
};

// Throws kBadModel with one message that starts with `name` and says what to change: no input or several,
// wrong name, type or rank, a dynamic dimension where D is needed, a fixed batch, no energy output.
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

// Extents of every tensor of the main graph at batch 1; a tensor or an extent that is not known is left out.
using TensorShapes = std::map<std::string, std::vector<int64_t>>;

// By the onnx library. Empty for opsets newer than it.
TensorShapes InferShapesAtBatchOne(const onnx::ModelProto& model);

// A floating-point operation is one multiplication, addition, comparison or elementary function. Nodes that
// do not depend on the input (J from G, say) are computed once, not per row: they count 0.
ModelSummary Summarise(const onnx::ModelProto& model, const std::string& name, const TensorShapes& shapes);

}  // namespace ort_ed
