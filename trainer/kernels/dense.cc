#include "trainer/kernels/dense.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/outer_product_sum.h"

namespace ort_ed {
namespace {

// Rows of one task: they stay in the second-level cache while every panel of the weights passes by.
constexpr size_t kTaskRows = 16 * SimdKernels::kRows;
// Rows summed at once into the weight gradient, while a block of dy stays in the first-level cache.
constexpr size_t kSumRows = 256;

void MultiplyByPanels(const KernelContext& context, size_t rows, const float* in, const PackedPanels& weights,
                      const float* bias, float* out) {
  const std::vector<float> start = PadToPanels(context.simd, bias, weights.columns());
  context.parallel_for(DivideUp(rows, kTaskRows), [&](size_t task) {
    const size_t first = task * kTaskRows, count = std::min(kTaskRows, rows - first);
    const float* in_rows[kTaskRows];
    float* out_rows[kTaskRows];
    for (size_t r = 0; r < count; ++r) {
      in_rows[r] = in + (first + r) * weights.depth();
      out_rows[r] = out + (first + r) * weights.columns();
    }
    MultiplyRows(context.simd, {count, in_rows, out_rows}, weights, start.data());
  });
}

// The columns' sums, in parts by shape alone.
void SumRows(const KernelContext& context, size_t rows, size_t columns, const float* in, float* sum) {
  const size_t parts = OuterProductSum::Parts(rows, columns);
  std::vector<float> sums(parts * columns);
  context.parallel_for(parts, [&](size_t part) {
    const size_t first = rows * part / parts, end = rows * (part + 1) / parts;
    context.simd.add_rows(end - first, columns, in + first * columns, columns, &sums[part * columns]);
  });
  std::fill_n(sum, columns, 0.0f);
  context.simd.add_rows(parts, columns, sums.data(), columns, sum);
}

struct TwoMatrices {
  size_t rows;
  const float* left;
  size_t left_columns;
  const float* right;
  size_t right_columns;
};

// out[left column, right column] = left^T * right.
void SumOfOuterProducts(const KernelContext& context, const TwoMatrices& m, float* out) {
  const size_t parts = OuterProductSum::Parts(m.rows, m.left_columns * m.right_columns);
  OuterProductSum sum(context.simd, m.left_columns, 1, m.right_columns, parts);
  context.parallel_for(parts, [&](size_t part) {
    const size_t panel = sum.panel(), right_size = kSumRows * sum.right_blocks() * panel;
    Scratch scratch(Scratch::Bytes<float>(sum.PackedLeftSize(kSumRows)) + Scratch::Bytes<float>(right_size));
    float* left = scratch.Take<float>(sum.PackedLeftSize(kSumRows));
    float* right = scratch.Take<float>(right_size);
    const float* right_rows[kSumRows];
    for (size_t r = 0; r < kSumRows; ++r) right_rows[r] = right + r * panel;
    sum.Clear(part);
    const size_t end = m.rows * (part + 1) / parts;
    for (size_t first = m.rows * part / parts; first < end; first += kSumRows) {
      const size_t count = std::min(kSumRows, end - first);
      sum.PackLeft(count, m.left + first * m.left_columns, m.left_columns, left);
      sum.PackRight(count, m.right + first * m.right_columns, m.right_columns, right, count);
      sum.Add(part, count, left, right_rows, count * panel);
    }
  });
  sum.Finish(context.parallel_for, [&](size_t l, const float* values) {
    std::copy_n(values, m.right_columns, out + l * m.right_columns);
  });
}

struct Strides {
  size_t in, out;
};
Strides WeightStrides(const DenseShape& shape) {
  return shape.transposed ? Strides{1, shape.in} : Strides{shape.out, 1};
}

}  // namespace

void Dense(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
           const float* bias, float* y) {
  const Strides stride = WeightStrides(shape);
  const PackedPanels weights(context, 1, shape.in, shape.out, [=](size_t, size_t in, size_t out) {
    return w[in * stride.in + out * stride.out];
  });
  MultiplyByPanels(context, shape.rows, x, weights, bias, y);
}

void DenseInputGrad(const KernelContext& context, const DenseShape& shape, const float* dy, const float* w,
                    float* dx) {
  const Strides stride = WeightStrides(shape);
  const PackedPanels weights(context, 1, shape.out, shape.in, [=](size_t, size_t out, size_t in) {
    return w[in * stride.in + out * stride.out];
  });
  MultiplyByPanels(context, shape.rows, dy, weights, nullptr, dx);
}

void DenseWeightGrad(const KernelContext& context, const DenseShape& shape, const float* x, const float* dy,
                     float* dw, float* dbias) {
  if (shape.transposed) {
    SumOfOuterProducts(context, {shape.rows, dy, shape.out, x, shape.in}, dw);
  } else {
    SumOfOuterProducts(context, {shape.rows, x, shape.in, dy, shape.out}, dw);
  }
  if (dbias) SumRows(context, shape.rows, shape.out, dy, dbias);
}

}  // namespace ort_ed
