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
    MultiplyRows(context.simd, {count, in_rows, out_rows}, weights, start.data(), false);
  });
}

// Row-major -> blocks of `panel` columns, [block][row][panel], padded with zeros.
void PackBlocks(size_t rows, size_t columns, size_t panel, const float* in, float* out) {
  for (size_t c = 0; c < columns; c += panel) {
    const size_t count = std::min(panel, columns - c);
    for (size_t r = 0; r < rows; ++r, out += panel) {
      std::copy_n(in + r * columns + c, count, out);
      std::fill(out + count, out + panel, 0.0f);
    }
  }
}

void AddRows(size_t rows, size_t columns, const float* in, float* sum) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) sum[c] += in[r * columns + c];
  }
}

}  // namespace

void Dense(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
           const float* bias, float* y) {
  const PackedPanels weights(context, 1, shape.in, shape.out,
                             [&](size_t, size_t in, size_t out) { return w[in * shape.out + out]; });
  MultiplyByPanels(context, shape.rows, x, weights, bias, y);
}

void DenseInputGrad(const KernelContext& context, const DenseShape& shape, const float* dy, const float* w,
                    float* dx) {
  const PackedPanels weights(context, 1, shape.out, shape.in,
                             [&](size_t, size_t out, size_t in) { return w[in * shape.out + out]; });
  MultiplyByPanels(context, shape.rows, dy, weights, nullptr, dx);
}

void DenseWeightGrad(const KernelContext& context, const DenseShape& shape, const float* x, const float* dy,
                     float* dw, float* dbias) {
  const auto [rows, in, out] = shape;
  const size_t parts = OuterProductSum::Parts(rows, in * out);
  OuterProductSum sum(context.simd, in, 1, out, parts);
  std::vector<float> bias_sums(dbias ? parts * out : 0);
  context.parallel_for(parts, [&, rows = rows, in = in, out = out](size_t part) {
    const size_t panel = sum.panel(), blocks = sum.right_blocks();
    Scratch scratch(Scratch::Bytes<float>(sum.PackedLeftSize(kSumRows)) +
                    Scratch::Bytes<float>(kSumRows * blocks * panel));
    float* left = scratch.Take<float>(sum.PackedLeftSize(kSumRows));
    float* right = scratch.Take<float>(kSumRows * blocks * panel);
    const float* right_rows[kSumRows];
    for (size_t r = 0; r < kSumRows; ++r) right_rows[r] = right + r * panel;
    sum.Clear(part);
    const size_t end = rows * (part + 1) / parts;
    for (size_t first = rows * part / parts; first < end; first += kSumRows) {
      const size_t count = std::min(kSumRows, end - first);
      sum.PackLeft(count, x + first * in, in, left);
      PackBlocks(count, out, panel, dy + first * out, right);
      sum.Add(part, count, left, right_rows, count * panel);
      if (dbias) AddRows(count, out, dy + first * out, &bias_sums[part * out]);
    }
  });
  sum.Finish(context.parallel_for,
             [&](size_t l, const float* values) { std::copy_n(values, shape.out, dw + l * shape.out); });
  if (!dbias) return;
  std::fill_n(dbias, out, 0.0f);
  AddRows(parts, out, bias_sums.data(), dbias);
}

}  // namespace ort_ed
