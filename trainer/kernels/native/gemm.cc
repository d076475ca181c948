#include "trainer/kernels/native/gemm.h"

#include <algorithm>

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Depth of one pass over a panel, so that the panel's part stays in the first-level cache (16 KB of 32).
constexpr size_t kDepthBlock = 256;

// The tile goes through a buffer where a result row ends inside the panel.
void MultiplyIntoNarrowRows(const SimdKernels& simd, const RowPointers& rows, const PackedPanels& weights,
                            size_t p, const float* start, ReadAhead& ahead) {
  float tile[kRows * 64];
  float* tile_rows[kRows];
  for (size_t r = 0; r < kRows; ++r) tile_rows[r] = tile + r * weights.width();
  const size_t first = p * weights.width(), used = weights.columns() - first;
  const SimdKernels::Tile& kernels = simd.TileFor(weights.columns());
  for (size_t row = 0; row < rows.count; row += kRows) {
    const size_t count = std::min(kRows, rows.count - row);
    ahead.Step();
    kernels.rows_times_panel[count - 1](weights.taps(), weights.depth(), rows.in + row * weights.taps(),
                                        rows.in_offset, weights.Panel(p), weights.depth(), start, tile_rows);
    for (size_t r = 0; r < count; ++r)
      std::copy_n(tile_rows[r], used, rows.out[row + r] + rows.out_offset + first);
  }
}

void MultiplyIntoWideRows(const SimdKernels& simd, const RowPointers& rows, const PackedPanels& weights,
                          size_t p, const float* start, ReadAhead& ahead) {
  const size_t taps = weights.taps(), depth = weights.depth();
  const size_t depth_block = std::min(depth, kDepthBlock);
  const size_t tap_block = std::max<size_t>(1, kDepthBlock / depth);
  const SimdKernels::Tile& kernels = simd.TileFor(weights.columns());
  size_t t = 0;
  do {  // at least once: without taps the result is `start`
    for (size_t d = 0; d < depth; d += depth_block) {
      const float* first = t + d == 0 ? start : nullptr;
      const float* panel = weights.Panel(p) + (t * depth + d) * weights.width();
      for (size_t row = 0; row < rows.count; row += kRows) {
        const size_t count = std::min(kRows, rows.count - row);
        float* out[kRows];
        for (size_t r = 0; r < count; ++r) out[r] = rows.out[row + r] + rows.out_offset + p * weights.width();
        if (first) ahead.Step();
        kernels.rows_times_panel[count - 1](std::min(tap_block, taps - t), std::min(depth_block, depth - d),
                                            rows.in + row * taps + t * kRows, rows.in_offset + d, panel,
                                            depth, first, out);
      }
    }
  } while ((t += tap_block) < taps);
}

}  // namespace

PackedPanels::PackedPanels(const KernelContext& context, size_t depth, size_t columns, const float* matrix,
                           bool transposed)
    : PackedPanels(context.simd, 1, depth, columns) {
  context.run_tasks(panels(), [&](size_t p) {
    float* panel = MutablePanel(p);
    const size_t first = p * width_, used = Used(p);
    if (used < width_) std::fill_n(panel, depth * width_, 0.0f);
    if (transposed) {
      context.simd.transpose(used, depth, matrix + first * depth, depth, panel, width_);
    } else {
      for (size_t d = 0; d < depth; ++d) std::copy_n(matrix + d * columns + first, used, panel + d * width_);
    }
  });
}

void MultiplyRows(const SimdKernels& simd, const RowPointers& rows, const PackedPanels& weights,
                  const float* start, ReadAhead& ahead) {
  for (size_t p = 0; p < weights.panels(); ++p) {
    const bool whole = (p + 1) * weights.width() <= weights.columns();
    (whole ? MultiplyIntoWideRows : MultiplyIntoNarrowRows)(simd, rows, weights, p,
                                                            start + p * weights.width(), ahead);
  }
}

std::vector<float> PadToPanels(const SimdKernels& simd, const float* values, size_t count) {
  std::vector<float> padded(DivideUp(count, simd.panel) * simd.panel, 0.0f);
  if (values) std::copy_n(values, count, padded.data());
  return padded;
}

}  // namespace ort_ed
