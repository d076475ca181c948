#include "runtime/support/energy_contract.h"

#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/limits.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr int kFloat32 = 1;

// ONNX's element types by number.
std::string TypeName(int type) {
  constexpr const char* kNames[] = {"",       "float32", "uint8",     "int8",       "uint16",  "int16",
                                    "int32",  "int64",   "string",    "bool",       "float16", "float64",
                                    "uint32", "uint64",  "complex64", "complex128", "bfloat16"};
  if (type > 0 && type < std::ssize(kNames)) return kNames[type];
  return "ONNX element type " + std::to_string(type);
}

std::string QuotedNames(std::span<const TensorDeclaration> tensors) {
  std::vector<std::string> names;
  for (const TensorDeclaration& tensor : tensors) names.push_back("'" + tensor.name + "'");
  return Join(names, ", ");
}

class ContractCheck {
 public:
  explicit ContractCheck(const std::string& model) : model_(model) {}

  EnergyContract Run(std::span<const TensorDeclaration> inputs, std::span<const TensorDeclaration> outputs) {
    if (inputs.size() != 1)
      Refuse("it has " + std::to_string(inputs.size()) + " inputs" +
             (inputs.empty() ? "" : " (" + QuotedNames(inputs) + ")") +
             " and needs exactly one, float32 [batch, D]; make the others initialisers or constants");
    CheckInput(inputs[0]);
    CheckOutput(FindEnergy(outputs));
    return contract_;
  }

 private:
  [[noreturn]] void Refuse(const std::string& problem) const { RefuseEnergyModel(model_, problem); }

  void CheckType(const TensorDeclaration& tensor, const std::string& what, const std::string& shape,
                 const std::string& cast_advice) const {
    if (!tensor.element_type) Refuse(what + " is no tensor; it must be float32 " + shape);
    if (*tensor.element_type != kFloat32)
      Refuse(what + " is " + TypeName(*tensor.element_type) + " and must be float32; " + cast_advice);
  }

  void CheckInput(const TensorDeclaration& input) {
    const std::string what = "its input '" + input.name + "'";
    CheckType(input, what, "[batch, D]", "put a Cast behind a float32 input");
    if (!input.extents) Refuse(what + " declares no shape and must have rank 2, [batch, D]");
    const std::vector<DeclaredExtent>& extents = *input.extents;
    const std::string with_shape = what + " has the shape " + FormatExtents(extents);
    if (extents.size() != 2)
      Refuse(with_shape + " and must have rank 2, [batch, D]; put a Reshape behind an input of that shape");
    if (extents[1].size.value_or(0) < 1)
      Refuse(with_shape +
             ", but D, its second extent, must be fixed; export the model with a fixed number of columns");
    if (*extents[1].size > kMaxColumns)
      Refuse(with_shape + "; at most " + std::to_string(kMaxColumns) + " variables are possible");
    if (extents[0].size)
      Refuse(what + " has the batch fixed at " + std::to_string(*extents[0].size) +
             "; export the model with a dynamic batch (in PyTorch: dynamic_axes={'" + input.name +
             "': {0: 'batch'}, ...})");
    contract_.input = input.name;
    contract_.dimension = *extents[1].size;
  }

  const TensorDeclaration& FindEnergy(std::span<const TensorDeclaration> outputs) const {
    if (outputs.empty()) Refuse("it has no output; the energies, float32 [batch], must be one");
    if (outputs.size() == 1) return outputs[0];
    for (const TensorDeclaration& output : outputs)
      if (output.name == kEnergyOutputName) return output;
    Refuse("it has the outputs " + QuotedNames(outputs) + "; name the one that is the energy '" +
           kEnergyOutputName + "'");
  }

  void CheckOutput(const TensorDeclaration& output) {
    const std::string what = "its output '" + output.name + "'";
    CheckType(output, what, "[batch]", "put a Cast before it");
    contract_.output = output.name;
    if (!output.extents) return;
    const std::vector<DeclaredExtent>& extents = *output.extents;
    const bool column = extents.size() == 2 && extents[1].size.value_or(1) == 1;
    if (extents.size() != 1 && !column)
      Refuse(what + " has the shape " + FormatExtents(extents) + " and must be [batch] or [batch, 1]");
    contract_.output_rank = static_cast<int>(extents.size());
  }

  const std::string& model_;
  EnergyContract contract_;
};

}  // namespace

EnergyContract CheckContract(std::span<const TensorDeclaration> inputs,
                             std::span<const TensorDeclaration> outputs, const std::string& model) {
  return ContractCheck(model).Run(inputs, outputs);
}

void RefuseEnergyModel(const std::string& model, const std::string& problem) {
  throw Error(ErrorCode::kBadModel, "'" + model + "' is no energy model: " + problem);
}

std::string FormatExtents(std::span<const DeclaredExtent> extents) {
  std::vector<std::string> texts;
  for (const DeclaredExtent& extent : extents)
    texts.push_back(extent.size ? std::to_string(*extent.size) : extent.name.empty() ? "?" : extent.name);
  return "[" + Join(texts, ", ") + "]";
}

}  // namespace ort_ed
