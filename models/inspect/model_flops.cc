#include "models/inspect/model_flops.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

using Extents = std::vector<int64_t>;

int64_t Product(std::span<const int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// A node with the shapes of its inputs and outputs; a member throws std::out_of_range for one that is
// missing.
class ShapedNode {
 public:
  ShapedNode(const onnx::NodeProto& node, const TensorShapes& shapes) : node_(node), shapes_(shapes) {}

  const onnx::NodeProto& node() const { return node_; }
  const Extents& Input(int i) const { return shapes_.at(i < node_.input_size() ? node_.input(i) : ""); }
  const Extents& Output() const { return shapes_.at(node_.output_size() > 0 ? node_.output(0) : ""); }
  int64_t InputElements() const { return Product(Input(0)); }
  int64_t OutputElements() const { return Product(Output()); }
  bool Has(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }

 private:
  const onnx::NodeProto& node_;
  const TensorShapes& shapes_;
};

using Cost = int64_t (*)(const ShapedNode& node);

int64_t NoCost(const ShapedNode&) { return 0; }
int64_t PerOutput(const ShapedNode& node) { return node.OutputElements(); }
int64_t PerInput(const ShapedNode& node) { return node.InputElements(); }
int64_t Variadic(const ShapedNode& node) { return (node.node().input_size() - 1) * node.OutputElements(); }

int64_t MatMulCost(const ShapedNode& node) { return 2 * node.OutputElements() * node.Input(0).back(); }

int64_t GemmCost(const ShapedNode& node) {
  const auto* transposed = FindAttribute(node.node(), "transA");
  const int64_t depth = node.Input(0).at(transposed != nullptr && transposed->i() != 0 ? 0 : 1);
  return (2 * depth + node.Has(2)) * node.OutputElements();
}

int64_t ConvCost(const ShapedNode& node) {
  const int64_t window = Product(std::span(node.Input(1)).subspan(1));
  return (2 * window + node.Has(2)) * node.OutputElements();
}

int64_t ConvTransposeCost(const ShapedNode& node) {
  const int64_t window = Product(std::span(node.Input(1)).subspan(1));
  return 2 * window * node.InputElements() + node.Has(2) * node.OutputElements();
}

int64_t PoolCost(const ShapedNode& node) {
  const auto* kernel = FindAttribute(node.node(), "kernel_shape");
  return Product(Extents(kernel->ints().begin(), kernel->ints().end())) * node.OutputElements();
}

// Multiply-and-add over every combination of the indices.
int64_t EinsumCost(const ShapedNode& node) {
  std::string equation = FindAttribute(node.node(), "equation")->s();
  std::erase(equation, ' ');
  const std::vector<std::string> terms = Split(equation.substr(0, equation.find("->")), ',');
  std::map<char, int64_t> extents;
  for (size_t term = 0; term < terms.size(); ++term) {
    const Extents& shape = node.Input(static_cast<int>(term));
    if (terms[term].size() != shape.size()) throw std::out_of_range("an ellipsis");
    for (size_t axis = 0; axis < shape.size(); ++axis) extents[terms[term][axis]] = shape[axis];
  }
  int64_t combinations = 1;
  for (const auto& [index, extent] : extents) combinations *= extent;
  return 2 * combinations;
}

struct CostRow {
  Cost cost;
  std::vector<std::string_view> ops;
};

const std::vector<CostRow>& CostTable() {
  static const std::vector<CostRow> table = {
      {NoCost, {"Cast",     "CastLike",        "Compress",     "Concat",
                "Constant", "ConstantOfShape", "Dropout",      "EyeLike",
                "Expand",   "Flatten",         "Gather",       "GatherElements",
                "GatherND", "Identity",        "OneHot",       "Pad",
                "Range",    "Reshape",         "Scatter",      "ScatterND",
                "Shape",    "ScatterElements", "Size",         "Slice",
                "Split",    "SpaceToDepth",    "DepthToSpace", "Squeeze",
                "Tile",     "Transpose",       "Trilu",        "Unsqueeze"}},
      {PerOutput,
       {"Abs",
        "Acos",
        "Acosh",
        "Add",
        "And",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
        "CumSum",
        "Div",
        "Elu",
        "Equal",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "Greater",
        "GreaterOrEqual",
        "HardSigmoid",
        "HardSwish",
        "IsInf",
        "IsNaN",
        "LeakyRelu",
        "Less",
        "LessOrEqual",
        "Log",
        "Mish",
        "Mod",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "PRelu",
        "Pow",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Sub",
        "Swish",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "Where",
        "Xor",
        "Softmax",
        "LogSoftmax",
        "BatchNormalization",
        "GroupNormalization",
        "InstanceNormalization",
        "LayerNormalization"}},
      {PerInput,
       {"ArgMax", "ArgMin", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare"}},
      {Variadic, {"Max", "Mean", "Min", "Sum"}},
      {PoolCost, {"AveragePool", "LpPool", "MaxPool"}},
      {MatMulCost, {"MatMul"}},
      {GemmCost, {"Gemm"}},
      {ConvCost, {"Conv"}},
      {ConvTransposeCost, {"ConvTranspose"}},
      {EinsumCost, {"Einsum"}},
  };
  return table;
}

}  // namespace

std::optional<int64_t> NodeFlops(const onnx::NodeProto& node, const TensorShapes& shapes) {
  if (!IsStandardDomain(node.domain())) return std::nullopt;
  for (const CostRow& row : CostTable()) {
    if (std::ranges::find(row.ops, node.op_type()) == row.ops.end()) continue;
    try {
      return row.cost(ShapedNode(node, shapes));
    } catch (const std::out_of_range&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace ort_ed
