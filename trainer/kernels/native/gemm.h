#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trainer/kernels/native/read_ahead.h"
#include "trainer/kernels/native/scratch.h"
#include "trainer/kernels/native/task_runner.h"
#include "trainer/kernels/simd/simd_kernels.h"

namespace ort_ed {

// How a kernel runs: with which instructions and on which threads.
struct KernelContext {
  const SimdKernels& simd;
  const TaskRunner& run_tasks;
};

inline size_t DivideUp(size_t a, size_t b) { return (a + b - 1) / b; }

// task(number, first, size) for each range of `range` (the last may be smaller) of `count` things.
template <typename Task>
void ForRanges(const KernelContext& context, size_t count, size_t range, Task task) {
  context.run_tasks(DivideUp(count, range), [&](size_t i) {
    const size_t first = i * range;
    task(i, first, range < count - first ? range : count - first);
  });
}

// The right-hand side of a matrix product, of `taps` x `depth` rows, in panels of the columns that
// SimdKernels::TileFor() takes at once: element (tap, d, column) lies at Panel(column / width)[(tap * depth +
// d) * width + column % width]. Columns beyond the last are zero.
class PackedPanels {
 public:
  // weight(tap, d, column) -> float is asked for every element, possibly from several threads.
  template <typename Weight>
  PackedPanels(const KernelContext& context, size_t taps, size_t depth, size_t columns, Weight weight)
      : PackedPanels(context.simd, taps, depth, columns) {
    context.run_tasks(panels(), [&](size_t p) { Fill(p, weight); });
  }

  // A matrix of depth x columns, row by row, or its transpose.
  PackedPanels(const KernelContext& context, size_t depth, size_t columns, const float* matrix,
               bool transposed);

  // fill(d, first column, columns, out, stride) writes the elements (tap, d, first column ...) to
  // out + tap * stride for all taps, possibly from several threads.
  template <typename FillDepth>
  static PackedPanels OfDepths(const KernelContext& context, size_t taps, size_t depth, size_t columns,
                               const FillDepth& fill) {
    PackedPanels packed(context.simd, taps, depth, columns);
    const size_t stride = depth * packed.width_;
    context.run_tasks(depth, [&](size_t d) {
      for (size_t p = 0; p < packed.panels(); ++p) {
        float* const out = packed.MutablePanel(p) + d * packed.width_;
        const size_t used = packed.Used(p);
        fill(d, p * packed.width_, used, out, stride);
        for (size_t tap = 0; tap < taps; ++tap)
          std::fill(out + tap * stride + used, out + tap * stride + packed.width_, 0.0f);
      }
    });
    return packed;
  }

  size_t taps() const { return taps_; }
  size_t depth() const { return depth_; }
  size_t columns() const { return columns_; }
  size_t width() const { return width_; }
  size_t panels() const { return DivideUp(columns_, width_); }
  const float* Panel(size_t p) const { return buffer_.floats() + p * taps_ * depth_ * width_; }

 private:
  PackedPanels(const SimdKernels& simd, size_t taps, size_t depth, size_t columns)
      : taps_(taps),
        depth_(depth),
        columns_(columns),
        width_(simd.TileFor(columns).width),
        buffer_(taps * depth * DivideUp(columns, width_) * width_ * sizeof(float)) {}

  float* MutablePanel(size_t p) { return const_cast<float*>(Panel(p)); }
  // Columns of the panel that are columns of the matrix.
  size_t Used(size_t p) const { return std::min(width_, columns_ - p * width_); }

  template <typename Weight>
  void Fill(size_t p, const Weight& weight) {
    float* out = MutablePanel(p);
    const size_t first = p * width_, used = Used(p);
    for (size_t tap = 0; tap < taps_; ++tap) {
      for (size_t d = 0; d < depth_; ++d, out += width_) {
        for (size_t j = 0; j < used; ++j) out[j] = weight(tap, d, first + j);
        for (size_t j = used; j < width_; ++j) out[j] = 0;
      }
    }
  }

  size_t taps_, depth_, columns_, width_;
  AlignedBuffer buffer_;
};

// Rows given by pointers, in groups of SimdKernels::kRows (the last may be smaller): row r of group g has for
// tap t its `depth` values at in[(g * taps + t) * kRows + r] and its result at out[g * kRows + r].
struct RowPointers {
  size_t count;
  const float* const* in;
  float* const* out;
  size_t in_offset = 0, out_offset = 0;  // of what is meant behind the pointers
};

// out[row] = start + sum over taps of in[tap][row] * weights; `start` has weights.columns() values and zeros
// up to a whole panel. One thread, which takes a step of `ahead` with each of TileCount() tiles.
void MultiplyRows(const SimdKernels& simd, const RowPointers& rows, const PackedPanels& weights,
                  const float* start, ReadAhead& ahead);
inline void MultiplyRows(const SimdKernels& simd, const RowPointers& rows, const PackedPanels& weights,
                         const float* start) {
  ReadAhead nothing;
  MultiplyRows(simd, rows, weights, start, nothing);
}

inline size_t TileCount(size_t rows, const PackedPanels& weights) {
  return DivideUp(rows, SimdKernels::kRows) * weights.panels();
}

// values (or zeros, if null) padded with zeros to whole panels: a `start` for MultiplyRows.
std::vector<float> PadToPanels(const SimdKernels& simd, const float* values, size_t count);

}  // namespace ort_ed
