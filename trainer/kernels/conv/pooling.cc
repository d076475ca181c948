#include "trainer/kernels/conv/pooling.h"

#include <limits>
#include <vector>

#include "trainer/kernels/conv/conv_grid.h"

namespace ort_ed {
namespace {

// Calls visit(image, index of the result's pixel in it, number of taps inside the image, where they lie from
// its beginning), images on several threads.
template <typename Visit>
void ForWindows(const KernelContext& context, const ConvShape& shape, Visit visit) {
  const Grid grid = ForwardGrid(shape);
  const ImageShape source = InputShape(shape);
  ForRanges(context, shape.images, TaskImages(grid.positions(), shape.images),
            [&](size_t, size_t first, size_t count) {
              const size_t taps = grid.taps.size();
              std::vector<ptrdiff_t> offsets(taps);
              for (size_t n = first; n < first + count; ++n) {
                size_t inside = 0;
                VisitSources(grid, 1, source, [&](size_t position, size_t tap, ptrdiff_t pixel) {
                  if (pixel >= 0) offsets[inside++] = pixel * static_cast<ptrdiff_t>(source.channels);
                  if (tap + 1 < taps) return;
                  visit(n, position, inside, offsets.data());
                  inside = 0;
                });
              }
            });
}

}  // namespace

void MaxPool(const KernelContext& context, const ConvShape& shape, const float* x, float* y) {
  const size_t in_size = InputShape(shape).size(), out_size = OutputShape(shape).size();
  const size_t channels = shape.in_channels;
  ForWindows(context, shape, [&](size_t n, size_t pixel, size_t taps, const ptrdiff_t* offsets) {
    float* const out = y + n * out_size + pixel * channels;
    if (taps == 0) {
      std::fill_n(out, channels, std::numeric_limits<float>::lowest());
    } else {
      context.simd.max_of_taps(channels, taps, offsets, x + n * in_size, out);
    }
  });
}

void MaxPoolGrad(const KernelContext& context, const ConvShape& shape, const float* x, const float* dy,
                 float* dx) {
  const size_t in_size = InputShape(shape).size(), out_size = OutputShape(shape).size();
  const size_t channels = shape.in_channels;
  ForWindows(context, shape, [&](size_t n, size_t pixel, size_t taps, const ptrdiff_t* offsets) {
    if (pixel == 0) std::fill_n(dx + n * in_size, in_size, 0.0f);
    if (taps > 0)
      context.simd.max_of_taps_grad(channels, taps, offsets, x + n * in_size,
                                    dy + n * out_size + pixel * channels, dx + n * in_size);
  });
}

}  // namespace ort_ed
