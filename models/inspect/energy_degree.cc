#include "models/inspect/energy_degree.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "models/graph/standard_domain.h"
#include "ort_ed/metadata.h"

namespace ort_ed {
namespace {

// Of a tensor; nothing: no polynomial, as far as is known.
using Degree = std::optional<int>;

template <typename Ops>
bool Contains(const Ops& ops, const std::string& op) {
  return std::ranges::find(ops, op) != std::end(ops);
}

// Linear in all inputs together.
constexpr std::string_view kSums[] = {"Add", "Sub", "Sum", "Mean", "Concat"};
// Linear in the first input; the others say where and how much, and must not depend on x.
constexpr std::string_view kLinear[] = {
    "Neg",           "Identity",   "Reshape", "Flatten", "Squeeze",     "Unsqueeze",
    "Transpose",     "Slice",      "Gather",  "Split",   "Expand",      "Tile",
    "ReduceSum",     "ReduceMean", "Div",     "CumSum",  "AveragePool", "GlobalAveragePool",
    "GatherElements"};
constexpr std::string_view kProducts[] = {"Mul", "MatMul", "Einsum", "Conv", "ConvTranspose"};
// Their results are no functions of their inputs.
constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                        "RandomUniformLike", "Multinomial",      "Bernoulli"};

class Degrees {
 public:
  explicit Degrees(const onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) degrees_[input.name()] = 1;
    for (const auto& tensor : graph.initializer()) degrees_[tensor.name()] = 0;  // also where it is an input
    for (const auto& node : graph.node()) {
      const Degree degree = Compute(node);
      for (const auto& output : node.output()) degrees_[output] = degree;
    }
  }

  // What nobody makes, such as a value of an outer graph, is not known.
  Degree operator[](const std::string& tensor) const {
    const auto found = degrees_.find(tensor);
    return found == degrees_.end() ? std::nullopt : found->second;
  }

 private:
  Degree Compute(const onnx::NodeProto& node) const {
    if (!IsStandardDomain(node.domain()) || HasBody(node) || Contains(kRandom, node.op_type())) return {};
    if (node.op_type() == "Shape" || node.op_type() == "Size") return 0;
    std::vector<int> inputs;
    for (const auto& name : node.input()) {
      const Degree degree = name.empty() ? 0 : (*this)[name];
      if (!degree) return {};
      inputs.push_back(*degree);
    }
    if (std::ranges::count(inputs, 0) == std::ssize(inputs)) return 0;
    return ComputePolynomial(node, inputs);
  }

  // Some of the inputs depend on x.
  static Degree ComputePolynomial(const onnx::NodeProto& node, const std::vector<int>& inputs) {
    const std::string& op = node.op_type();
    const bool others_fixed = std::count(inputs.begin() + 1, inputs.end(), 0) == std::ssize(inputs) - 1;
    if (Contains(kSums, op)) return std::ranges::max(inputs);
    if (Contains(kLinear, op)) return others_fixed ? Degree(inputs[0]) : Degree();
    if (Contains(kProducts, op)) return Sum(inputs);
    if (op == "Gemm") return std::max(Sum({inputs[0], inputs[1]}), inputs.size() > 2 ? inputs[2] : 0);
    if (op == "ReduceSumSquare") return others_fixed ? Degree(Sum({inputs[0], inputs[0]})) : Degree();
    if (op == "Where") return inputs[0] == 0 ? Degree(std::max(inputs[1], inputs[2])) : Degree();
    return {};
  }

  // Bounded: a chain of squares would overflow.
  static int Sum(const std::vector<int>& inputs) {
    constexpr int kMany = 1000;
    int sum = 0;
    for (int degree : inputs) sum = std::min(kMany, sum + degree);
    return sum;
  }

  static bool HasBody(const onnx::NodeProto& node) {
    return std::ranges::any_of(node.attribute(),
                               [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
  }

  std::map<std::string, Degree> degrees_;
};

// As it stands in the metadata; empty: none, or more than samplers use.
std::string DegreeText(const onnx::ModelProto& model) {
  constexpr int kLargest = 2;
  const std::optional<int> degree = EnergyDegree(model);
  return degree && *degree <= kLargest ? std::to_string(*degree) : "";
}

}  // namespace

std::optional<int> EnergyDegree(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  if (graph.output().empty()) return std::nullopt;
  const bool named = std::ranges::any_of(
      graph.output(), [](const auto& output) { return output.name() == kEnergyOutputName; });
  return Degrees(graph)[named ? kEnergyOutputName : graph.output(0).name()];
}

bool HasNotedDegree(const onnx::ModelProto& model) {
  return GetMetadata(model, metadata_key::kDegree) == DegreeText(model);
}

void NoteDegree(onnx::ModelProto& model) { SetMetadata(model, metadata_key::kDegree, DegreeText(model)); }

}  // namespace ort_ed
