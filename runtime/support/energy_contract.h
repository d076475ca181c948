#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ort_ed {

// How a model keeps the energy model contract.
struct EnergyContract {
  std::string input;   // float32 [batch, dimension]
  std::string output;  // float32 [batch] or [batch, 1]
  int64_t dimension = 0;
  int output_rank = 0;  // 1 or 2; 0 where the file does not say
};

struct DeclaredExtent {
  std::optional<int64_t> size;  // nothing: dynamic
  std::string name = {};        // of a dynamic one, where it has one
};

// An input or output as a model declares it.
struct TensorDeclaration {
  std::string name;
  std::optional<int> element_type;  // ONNX's number; nothing: no tensor
  std::optional<std::vector<DeclaredExtent>> extents;
};

// One input of any name; one output of any name or, among several, one named `energy`. Throws kBadModel with
// one message that names the model and says what to change: no input or several, wrong type or rank, a
// dynamic extent where D is needed, a fixed batch, no energy output.
EnergyContract CheckContract(std::span<const TensorDeclaration> inputs,
                             std::span<const TensorDeclaration> outputs, const std::string& model);

// Throws kBadModel "'<model>' is no energy model: <problem>".
[[noreturn]] void RefuseEnergyModel(const std::string& model, const std::string& problem);

// "[batch, 784]", "[?, 784]".
std::string FormatExtents(std::span<const DeclaredExtent> extents);

}  // namespace ort_ed
