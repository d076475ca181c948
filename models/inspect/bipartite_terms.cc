#include "models/inspect/bipartite_terms.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <onnx/defs/tensor_proto_util.h>
#include <onnx/onnx_pb.h>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "ort_ed/metadata.h"

namespace ort_ed {
namespace {

using Tensor = BipartiteTerms::Tensor;

int64_t IntAttribute(const onnx::NodeProto& node, std::string_view name, int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

bool IsFloatAttribute(const onnx::NodeProto& node, std::string_view name, float value) {
  const auto* attribute = FindAttribute(node, name);
  return attribute == nullptr || attribute->f() == value;
}

// Reads a graph from its output backwards, as a sum of terms. What it does not know ends the search.
class TermSearch {
 public:
  explicit TermSearch(const onnx::ModelProto& model) : graph_(model.graph()) {
    for (const auto& tensor : graph_.initializer()) tensors_[tensor.name()] = {&tensor, true};
    for (const auto& node : graph_.node()) {
      const auto* value = node.op_type() == "Constant" ? FindAttribute(node, "value") : nullptr;
      if (value != nullptr) tensors_[node.output(0)] = {&value->t(), false};
      for (const auto& output : node.output()) makers_[output] = &node;
    }
  }

  std::optional<BipartiteTerms> Run() {
    if (graph_.input_size() < 1 || graph_.output_size() < 1) return {};
    const auto& shape = graph_.input(0).type().tensor_type().shape();
    if (shape.dim_size() != 2) return {};
    terms_.dimension = shape.dim(1).dim_value();
    const bool named = std::ranges::any_of(
        graph_.output(), [](const auto& output) { return output.name() == kEnergyOutputName; });
    const bool found = AddTerms(named ? kEnergyOutputName : graph_.output(0).name(), 1);
    return found && terms_.units > 0 ? std::optional(terms_) : std::nullopt;
  }

 private:
  struct Known {
    const onnx::TensorProto* tensor = nullptr;
    bool initialiser = false;
  };

  const onnx::NodeProto* Maker(const std::string& name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() || !IsStandardDomain(found->second->domain()) ? nullptr : found->second;
  }

  const onnx::NodeProto* Maker(const std::string& name, std::string_view op) const {
    const auto* node = Maker(name);
    return node != nullptr && node->op_type() == op ? node : nullptr;
  }

  bool IsInput(const std::string& name) const { return name == graph_.input(0).name(); }

  // A tensor of floats that does not depend on the input; none: there is no such.
  const Known* Fixed(const std::string& name, int64_t elements) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.tensor->data_type() != onnx::TensorProto::FLOAT)
      return nullptr;
    const auto& dims = found->second.tensor->dims();
    const int64_t size = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    return size == elements ? &found->second : nullptr;
  }

  static Tensor Name(const Known& known) {
    if (known.initialiser) return {known.tensor->name(), std::nullopt};
    return {"", onnx::ParseData<float>(known.tensor)};
  }

  // The tensor `name`, one number of each row, counts `scale` times.
  bool AddTerms(const std::string& name, float scale) {
    if (Fixed(name, 1) != nullptr) return true;  // a constant
    const auto* node = Maker(name);
    if (node == nullptr || ++terms_seen_ > kMostTerms) return false;
    const std::string& op = node->op_type();
    if (op == "Neg") return AddTerms(node->input(0), -scale);
    if (op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Flatten")
      return AddTerms(node->input(0), scale);
    if (op == "Add" || op == "Sub")
      return AddTerms(node->input(0), scale) && AddTerms(node->input(1), op == "Add" ? scale : -scale);
    if (op == "MatMul") return IsInput(node->input(0)) && AddLinear(node->input(1), scale);
    if (op == "ReduceSum") return SumsOverColumns(*node) && AddSum(node->input(0), scale);
    return false;
  }

  bool SumsOverColumns(const onnx::NodeProto& node) const {
    std::vector<int64_t> axes;
    if (const auto* attribute = FindAttribute(node, "axes"))
      axes.assign(attribute->ints().begin(), attribute->ints().end());
    else if (node.input_size() > 1 && tensors_.contains(node.input(1)))
      axes = onnx::ParseData<int64_t>(tensors_.at(node.input(1)).tensor);
    return axes == std::vector<int64_t>{1} || axes == std::vector<int64_t>{-1};
  }

  bool AddLinear(const std::string& values, float scale) {
    const Known* known = Fixed(values, terms_.dimension);
    if (known == nullptr) return false;
    terms_.linear.push_back({scale, Name(*known)});
    return true;
  }

  bool AddSum(const std::string& name, float scale) {
    if (const auto* product = Maker(name, "Mul"))
      for (const int x : {0, 1})
        if (IsInput(product->input(x))) return AddLinear(product->input(1 - x), scale);
    const auto* softplus = Maker(name, "Softplus");
    return softplus != nullptr && scale == -1 && terms_.units == 0 && SetUnits(softplus->input(0));
  }

  // x weight + bias.
  bool SetUnits(const std::string& name) {
    if (const auto* gemm = Maker(name, "Gemm")) {
      const bool plain = IntAttribute(*gemm, "transA", 0) == 0 && IsFloatAttribute(*gemm, "alpha", 1) &&
                         IsFloatAttribute(*gemm, "beta", 1);
      terms_.transposed = IntAttribute(*gemm, "transB", 0) != 0;
      return plain && IsInput(gemm->input(0)) && SetWeight(gemm->input(1)) &&
             (gemm->input_size() < 3 || SetBias(gemm->input(2)));
    }
    if (const auto* add = Maker(name, "Add")) {
      for (const int product : {0, 1})
        if (SetProduct(add->input(product))) return SetBias(add->input(1 - product));
      return false;
    }
    return SetProduct(name);
  }

  bool SetProduct(const std::string& name) {
    const auto* product = Maker(name, "MatMul");
    return product != nullptr && IsInput(product->input(0)) && SetWeight(product->input(1));
  }

  bool SetWeight(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.tensor->dims_size() != 2) return false;
    const int64_t rows = found->second.tensor->dims(0), columns = found->second.tensor->dims(1);
    if ((terms_.transposed ? columns : rows) != terms_.dimension) return false;
    const Known* known = Fixed(name, rows * columns);
    if (known == nullptr) return false;
    terms_.units = terms_.transposed ? rows : columns;
    terms_.weight = Name(*known);
    return true;
  }

  bool SetBias(const std::string& name) {
    const Known* known = Fixed(name, terms_.units);
    if (known == nullptr) return false;
    terms_.bias = Name(*known);
    return true;
  }

  static constexpr int kMostTerms = 100;
  const onnx::GraphProto& graph_;
  std::map<std::string, Known> tensors_;
  std::map<std::string, const onnx::NodeProto*> makers_;
  BipartiteTerms terms_;
  int terms_seen_ = 0;
};

}  // namespace

std::vector<std::string> BipartiteTerms::Initialisers() const {
  std::vector<std::string> names;
  const auto add = [&](const Tensor& tensor) {
    if (!tensor.fixed) names.push_back(tensor.name);
  };
  add(weight);
  if (bias) add(*bias);
  for (const Linear& term : linear) add(term.values);
  return names;
}

std::optional<BipartiteTerms> FindBipartiteTerms(const onnx::ModelProto& model) {
  return TermSearch(model).Run();
}

}  // namespace ort_ed
