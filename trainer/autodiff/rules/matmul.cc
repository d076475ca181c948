// Matrix products, determinants, and Resize, which is a product along each axis. Two-dimensional ones use
// Gemm, whose transposes are free.
#include <algorithm>
#include <array>

#include "trainer/autodiff/rules.h"
#include "trainer/autodiff/rules/resize.h"

namespace ort_ed {
namespace {

Value Product(const Value& a, bool transpose_a, const Value& b, bool transpose_b, float alpha = 1) {
  if (!transpose_a && !transpose_b && alpha == 1) return MatMul(a, b);
  return Op("Gemm", {a, b},
            {{"transA", int64_t{transpose_a}}, {"transB", int64_t{transpose_b}}, {"alpha", alpha}});
}

// y = alpha * a' * b' + beta * c, where ' is an optional transposition.
void Gemm(GradContext& node) {
  const Value g = node.OutputGradient();
  const Value a = node.Input(0);
  const Value b = node.Input(1);
  const bool ta = node.Int("transA", 0) != 0;
  const bool tb = node.Int("transB", 0) != 0;
  const float alpha = node.Float("alpha", 1);
  const float beta = node.Float("beta", 1);
  if (node.Needs(0)) {
    node.SetGradient(0, ta ? Product(b, tb, g, true, alpha) : Product(g, false, b, !tb, alpha));
  }
  if (node.Needs(1)) {
    node.SetGradient(1, tb ? Product(g, true, a, ta, alpha) : Product(a, !ta, g, false, alpha));
  }
  if (node.Needs(2)) {
    const Value sum = node.Unbroadcast(g, node.OutputInfo(), node.Input(2));
    node.SetGradient(2, beta == 1 ? sum : sum * beta);
  }
}

Value SwapLastTwo(const Value& value, int64_t rank) {
  std::vector<int64_t> permutation(rank);
  for (int64_t i = 0; i < rank; ++i) permutation[i] = i;
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return Transpose(value, permutation);
}

// All but the last axis become one.
Value AsMatrix(const Value& value, const TensorInfo& info) {
  if (info.rank() == 2) return value;
  const Extent& columns = info.shape.back();
  if (columns.known()) return Reshape(value, {{-1, columns.value}});
  return Op("Flatten", {value}, {{"axis", info.rank() - 1}});
}

// MatMul's operands after it has made matrices of vectors.
struct Operand {
  Value value;
  TensorInfo info;
};

Operand WithAxis(const Operand& operand, int64_t axis) {
  Operand result{Unsqueeze(operand.value, {axis}), operand.info};
  result.info.shape.insert(result.info.shape.begin() + axis, Extent{1, ""});
  return result;
}

// The gradient of a stack of matrices, summed over the axes along which the stack was repeated.
Value SumOverRepeated(GradContext& node, const Value& gradient, const Operand& g, const Operand& operand) {
  TensorInfo from = g.info;
  std::copy(operand.info.shape.end() - 2, operand.info.shape.end(), from.shape.end() - 2);
  return node.Unbroadcast(gradient, from, operand.info, operand.value);
}

Value LeftGradient(GradContext& node, const Operand& g, const Operand& a, const Operand& b) {
  if (g.info.rank() == 2) return Product(g.value, false, b.value, true);
  return SumOverRepeated(node, MatMul(g.value, SwapLastTwo(b.value, b.info.rank())), g, a);
}

Value RightGradient(GradContext& node, const Operand& g, const Operand& a, const Operand& b) {
  // Rows in any number of axes times one matrix: a single product over all rows.
  if (b.info.rank() == 2) return Product(AsMatrix(a.value, a.info), true, AsMatrix(g.value, g.info), false);
  return SumOverRepeated(node, MatMul(SwapLastTwo(a.value, a.info.rank()), g.value), g, b);
}

void MatMulRule(GradContext& node) {
  const bool row_vector = node.Rank(0) == 1;
  const bool column_vector = node.Rank(1) == 1;
  Operand a{node.Input(0), node.InputInfo(0)};
  Operand b{node.Input(1), node.InputInfo(1)};
  Operand g{node.OutputGradient(), node.OutputInfo()};
  if (column_vector) b = WithAxis(b, 1), g = WithAxis(g, g.info.rank());
  if (row_vector) a = WithAxis(a, 0), g = WithAxis(g, g.info.rank() - 1);
  if (node.Needs(0)) {
    const Value gradient = LeftGradient(node, g, a, b);
    node.SetGradient(0, row_vector ? node.ReshapeToInput(gradient, 0) : gradient);
  }
  if (node.Needs(1)) {
    const Value gradient = RightGradient(node, g, a, b);
    node.SetGradient(1, column_vector ? node.ReshapeToInput(gradient, 1) : gradient);
  }
}

// A matrix of n x n without each of its rows and columns, as positions in the matrix: n * n rows.
std::vector<int64_t> MinorPositions(int64_t n) {
  std::vector<int64_t> positions;
  for (int64_t minor = 0; minor < n * n; ++minor)
    for (int64_t k = 0; k < n * n; ++k)
      if (k / n != minor / n && k % n != minor % n) positions.push_back(k);
  return positions;
}

std::vector<float> CheckerBoard(int64_t n) {
  std::vector<float> signs;
  for (int64_t k = 0; k < n * n; ++k) signs.push_back((k / n + k % n) % 2 == 0 ? 1.0f : -1.0f);
  return signs;
}

// The derivative by a number is its cofactor: the determinant of the matrix without its row and column. Exact
// where the matrix has no inverse, too.
void Det(GradContext& node) {
  constexpr int64_t kLargest = 16;  // n^4 numbers are computed with
  const int64_t rank = node.Rank(0), n = node.InputInfo(0).shape.back().value;
  if (n < 1 || n > kLargest) node.Fail("its matrices must be of a fixed size, at most 16 x 16");
  const Value g = Unsqueeze(node.OutputGradient(), {rank - 2, rank - 1});
  if (n == 1) return node.SetGradient(0, g);
  GraphBuilder& graph = node.graph();
  const Value minors = Op("Gather", {Reshape(node.Input(0), {{-1, n * n}}), graph.Ints(MinorPositions(n))},
                          {{"axis", int64_t{1}}});
  const Value determinants = Op("Det", {Reshape(minors, {{-1, n * n, n - 1, n - 1}})});
  const Value cofactors = determinants * graph.Constant({{n * n}}, CheckerBoard(n));
  node.SetGradient(0, g * node.ReshapeToInput(cofactors, 0));
}

constexpr std::array kRules = {
    GradientRule{"Gemm", 7, Gemm},
    GradientRule{"MatMul", 1, MatMulRule},
    GradientRule{"Det", 11, Det},
    GradientRule{"Resize", 11, ResizeRule},
};

}  // namespace

std::span<const GradientRule> MatmulRules() { return kRules; }

}  // namespace ort_ed
