#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ort_ed {

// The innermost loops, compiled once per instruction set. Everything around them (blocking, packing, edges)
// is ordinary code in gemm.cc, conv.cc and swish.cc.
struct SimdKernels {
  // A tile of a matrix product is at most kRows rows by one panel: what the registers hold. There are panels
  // of three widths, so that narrow matrices waste little.
  static constexpr int kRows = 6, kWidths = 3;

  const char* name;
  int panel;  // the widest

  // For each of R rows: out[r][0, width) = start[0, width) + sum over taps t and depth d of
  //   rows[t * kRows + r][offset + d] * weights[(t * weight_stride + d) * width + ...].
  // Without `start` the sum continues what is in out. The rows of a tap lie anywhere in memory: that is what
  // makes a convolution a matrix product without an im2col copy.
  using RowsTimesPanel = void (*)(size_t taps, size_t depth, const float* const* rows, size_t offset,
                                  const float* weights, size_t weight_stride, const float* start,
                                  float* const* out);

  // For each of R rows: out[r * out_stride + (0 ... width)) = sum over k of left[k * kRows + r] *
  // right[k][offset + (0 ... width)), added to what is there if `add`: the sum of outer products that a
  // weight gradient is.
  using OuterProducts = void (*)(size_t count, const float* left, const float* const* right, size_t offset,
                                 float* out, size_t out_stride, bool add);

  struct Tile {
    size_t width;
    RowsTimesPanel rows_times_panel[kRows];  // [R - 1]
    OuterProducts outer_products[kRows];     // [R - 1]
  };
  Tile tiles[kWidths];  // the narrowest first

  // The narrowest that holds a row of so many columns; the widest where none does.
  const Tile& TileFor(size_t columns) const {
    int i = 0;
    while (i + 1 < kWidths && tiles[i].width < columns) ++i;
    return tiles[i];
  }
  const Tile& widest() const { return tiles[kWidths - 1]; }

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

  // What a position of a convolution of every channel by itself needs: out[r * out_step + c] = start[c] + sum
  // over taps t of in[in_offsets[t] + r * in_step + c] * weights[weight_offsets[t] + c], for R positions r.
  using Depthwise = void (*)(size_t channels, size_t taps, const ptrdiff_t* in_offsets,
                             const size_t* weight_offsets, const float* in, size_t in_step,
                             const float* weights, const float* start, float* out, size_t out_step);
  Depthwise depthwise[kRows];  // [R - 1]
  // sums[c] += the sum over `count` positions of a[i * a_step + c] * b[i * b_step + c].
  void (*add_products)(size_t channels, size_t count, const float* a, size_t a_step, const float* b,
                       size_t b_step, float* sums);

  // out[c] = the largest of in[offsets[t] + c] over the taps; and its gradient: din at the first tap that has
  // the largest value += dout.
  void (*max_of_taps)(size_t channels, size_t taps, const ptrdiff_t* offsets, const float* in, float* out);
  void (*max_of_taps_grad)(size_t channels, size_t taps, const ptrdiff_t* offsets, const float* in,
                           const float* dout, float* din);

  // y = (x - mean) / sqrt(variance + epsilon) * scale + bias, where mean and variance are of a row; bias may
  // be null. And the gradients, where those of scale and bias are added to what is there.
  void (*normalize_rows)(size_t rows, size_t columns, float epsilon, const float* x, const float* scale,
                         const float* bias, float* y);
  void (*normalize_rows_grad)(size_t rows, size_t columns, float epsilon, const float* x, const float* scale,
                              const float* dy, float* dx, float* dscale, float* dbias);
  // sums[c] += the sum over rows of (a[r][c] - a_centre[c]) * (b[r][c] - b_centre[c]); null: a centre of 0.
  void (*add_centred_products)(size_t rows, size_t columns, const float* a, const float* a_centre,
                               const float* b, const float* b_centre, float* sums);
  // out[r][c] = a[r][c] * a_factor[c] + b[r][c] * b_factor[c] + start[c]; b may be null.
  void (*combine_rows)(size_t rows, size_t columns, const float* a, const float* a_factor, const float* b,
                       const float* b_factor, const float* start, float* out);
  // x = softmax of each row; dp = dx of it, given p and dp.
  void (*softmax_rows)(size_t rows, size_t columns, float* x);
  void (*softmax_rows_grad)(size_t rows, size_t columns, const float* p, float* dp);
  // y = x * (1 + erf(x / sqrt(2))) / 2, and its gradient.
  void (*gelu)(size_t count, const float* x, float* y);
  void (*gelu_grad)(size_t count, const float* x, const float* dy, float* dx);
  // dx = dy where y is positive, else 0.
  void (*relu_grad)(size_t count, const float* y, const float* dy, float* dx);

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
