#pragma once

#include <cstddef>
#include <span>

namespace ort_ed {

// The innermost loops, compiled once per instruction set. Everything around them (blocking, packing, edges)
// is ordinary code in gemm.cc, conv2d.cc and swish.cc.
struct SimdKernels {
  // A tile of a matrix product is at most kRows rows by one panel of `panel` columns: what the registers
  // hold.
  static constexpr int kRows = 6;

  const char* name;
  int panel;

  // For each of R rows: out[r][0, panel) = start[0, panel) + sum over taps t and depth d of
  //   rows[t * kRows + r][d] * weights[(t * weight_stride + d) * panel + ...].
  // Without `start` the sum continues what is in out. The rows of a tap lie anywhere in memory: that is what
  // makes a convolution a matrix product without an im2col copy.
  using RowsTimesPanel = void (*)(size_t taps, size_t depth, const float* const* rows, size_t offset,
                                  const float* weights, size_t weight_stride, const float* start,
                                  float* const* out);
  RowsTimesPanel rows_times_panel[kRows];  // [R - 1]

  // For each of R rows: out[r * out_stride + (0 ... panel)) = sum over k of left[k * kRows + r] *
  // right[k][offset + (0 ... panel)), added to what is there if `add`: the sum of outer products that a
  // weight gradient is.
  using OuterProducts = void (*)(size_t count, const float* left, const float* const* right, size_t offset,
                                 float* out, size_t out_stride, bool add);
  OuterProducts outer_products[kRows];  // [R - 1]

  // out[c * out_stride + r] = in[r * in_stride + c].
  void (*transpose)(size_t rows, size_t columns, const float* in, size_t in_stride, float* out,
                    size_t out_stride);

  // sums[0, columns) += the sum of the rows.
  void (*add_rows)(size_t rows, size_t columns, const float* in, size_t stride, float* sums);

  // out[r] = start + in[r] * w: the products of rows with one vector.
  void (*dot_rows)(size_t rows, size_t columns, const float* in, const float* w, float start, float* out);
  // Their gradients: din[r] = dout[r] * w, dw += the sum of dout[r] * in[r]. Null: not wanted.
  void (*dot_rows_grad)(size_t rows, size_t columns, const float* in, const float* w, const float* dout,
                        float* din, float* dw);

  // out = x * sigmoid(beta * x); the sigmoid as well unless null. out may be x.
  void (*swish)(size_t count, float beta, const float* x, float* out, float* sigmoid);
  // dx = dout * d(swish)/dx; returns the sum of dout * d(swish)/dbeta.
  double (*swish_grad)(size_t count, float beta, const float* x, const float* dout, float* dx);
  // The same from what swish() made.
  double (*swish_grad_of_result)(size_t count, float beta, const float* out, const float* sigmoid,
                                 const float* dout, float* dx);

  // out = a op b, element by element; out may be a or b. Exactly rounded, as the standard operators.
  enum class Elementwise { kAdd, kSub, kMul, kDiv, kSqrt, kSign, kAbs, kRelu };
  void (*elementwise[8])(size_t count, const float* a, const float* b, float* out);

  // The transforms of winograd.h for one tile, on `channels` values a pixel; element i of a transformed tile
  // lies at i * stride. pixels: of the input 6 x 6, of the output 4 x 4, of the weights 3 x 3.
  void (*winograd_input)(size_t channels, const float* const* pixels, float* out, size_t out_stride);
  void (*winograd_output)(size_t channels, const float* in, size_t in_stride, const float* start,
                          float* const* pixels);
  void (*winograd_output_grad)(size_t channels, const float* const* pixels, float* out, size_t out_stride);
  void (*winograd_weights)(size_t channels, const float* const* pixels, float* out, size_t out_stride);
  void (*winograd_weights_grad)(size_t channels, const float* const* products, float* out, size_t out_stride);
};

// What this processor can run, the fastest first; the last is plain C++ that runs everywhere.
std::span<const SimdKernels* const> AvailableSimdKernels();

inline const SimdKernels& BestSimdKernels() { return *AvailableSimdKernels().front(); }

}  // namespace ort_ed
