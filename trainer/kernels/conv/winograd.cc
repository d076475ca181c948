#include "trainer/kernels/conv/winograd.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/winograd_tiles.h"

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Tiles of one task: enough to pay for reading all transformed weights, few enough for the second-level
// cache.
constexpr size_t kTaskTiles = 60;

// All 36 transforms of the weights as one right-hand side; weight(source channel, result channel, i) is
// element i of a kernel.
template <typename Weight>
PackedPanels PackWeights(const KernelContext& context, const Tiling& tiling, Weight weight) {
  const auto transform = [&](size_t source, size_t first, size_t results, float* out, size_t stride) {
    Scratch scratch(kWeights * Scratch::Bytes<float>(results));
    const float* kernels[kWeights];
    for (size_t i = 0; i < kWeights; ++i) {
      float* const elements = scratch.Take<float>(results);
      for (size_t r = 0; r < results; ++r) elements[r] = weight(source, first + r, i);
      kernels[i] = elements;
    }
    context.simd.winograd_weights(results, kernels, out, stride);
  };
  return PackedPanels::OfDepths(context, kProducts, tiling.source.channels, tiling.result.channels,
                                transform);
}

// Convolution of whole images by tiles.
class TiledConvolution {
 public:
  TiledConvolution(const KernelContext& context, const Tiling& tiling, const PackedPanels& weights)
      : context_(context),
        tiling_(tiling),
        weights_(weights),
        result_stride_(weights.panels() * weights.width()),
        zeros_(std::max(tiling.source.channels, weights.width())) {}

  void Run(size_t images, const float* in, const float* bias, float* out) const {
    const std::vector<float> start = PadToPanels(context_.simd, bias, tiling_.result.channels);
    const size_t task_images =
        std::clamp<size_t>(kTaskTiles / tiling_.tiles(), 1, std::max<size_t>(images, 1));
    context_.run_tasks(DivideUp(images, task_images), [&](size_t task) {
      const size_t first = task * task_images;
      RunTask(std::min(task_images, images - first), in + first * tiling_.source.size(), start.data(),
              out + first * tiling_.result.size());
    });
  }

 private:
  void RunTask(size_t images, const float* in, const float* start, float* out) const {
    const size_t sources = tiling_.source.channels, results = tiling_.result.channels;
    const size_t tiles = images * tiling_.tiles();
    const size_t in_stride = tiles * sources + kCacheLine, out_stride = tiles * result_stride_ + kCacheLine;
    Scratch scratch(Scratch::Bytes<float>(kProducts * in_stride) +
                    Scratch::Bytes<float>(kProducts * out_stride) + Scratch::Bytes<float>(results));
    float* transformed = scratch.Take<float>(kProducts * in_stride);
    float* products = scratch.Take<float>(kProducts * out_stride);
    float* nowhere = scratch.Take<float>(results);
    Prefetch(in, images * tiling_.source.size());
    ForTiles(images, [&](size_t tile, size_t image, size_t t) {
      const float* square[kProducts];
      tiling_.SourceSquare(t, in + image * tiling_.source.size(), zeros_.data(), square);
      context_.simd.winograd_input(sources, square, transformed + tile * sources, in_stride);
    });
    Multiply(tiles, transformed, in_stride, products, out_stride);
    ForTiles(images, [&](size_t tile, size_t image, size_t t) {
      float* square[kTile * kTile];
      tiling_.ResultSquare(t, out + image * tiling_.result.size(), nowhere, square);
      context_.simd.winograd_output(results, products + tile * result_stride_, out_stride, start, square);
    });
  }

  template <typename Visit>
  void ForTiles(size_t images, Visit visit) const {
    for (size_t image = 0; image < images; ++image) {
      for (size_t t = 0; t < tiling_.tiles(); ++t) visit(image * tiling_.tiles() + t, image, t);
    }
  }

  void Multiply(size_t tiles, const float* in, size_t in_stride, float* out, size_t out_stride) const {
    const size_t depth = weights_.depth(), width = weights_.width();
    const SimdKernels::Tile& tile_kernels = context_.simd.TileFor(weights_.columns());
    for (size_t product = 0; product < kProducts; ++product, in += in_stride, out += out_stride) {
      for (size_t p = 0; p < weights_.panels(); ++p) {
        const float* panel = weights_.Panel(p) + product * depth * width;
        for (size_t tile = 0; tile < tiles; tile += kRows) {
          const size_t count = std::min(kRows, tiles - tile);
          const float* in_rows[kRows];
          float* out_rows[kRows];
          for (size_t r = 0; r < count; ++r) {
            in_rows[r] = in + (tile + r) * depth;
            out_rows[r] = out + (tile + r) * result_stride_ + p * width;
          }
          tile_kernels.rows_times_panel[count - 1](1, depth, in_rows, 0, panel, depth, zeros_.data(),
                                                   out_rows);
        }
      }
    }
  }

  const KernelContext& context_;
  const Tiling& tiling_;
  const PackedPanels& weights_;
  size_t result_stride_;
  std::vector<float> zeros_;
};

}  // namespace

bool WinogradPays(const ConvShape& s) {
  const bool fits = s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 &&
                    s.dilation_y == 1 && s.dilation_x == 1 && s.pad_top <= 2 && s.pad_left <= 2 &&
                    s.groups == 1 && s.in_depth == 1 && s.kernel_depth == 1 && s.out_depth == 1;
  if (!fits || s.in_channels < 16 || s.out_channels < 16) return false;
  // Tiles that stick out of the image are wasted work.
  const size_t tiles = DivideUp(s.out_height, kTile) * DivideUp(s.out_width, kTile);
  const size_t grad_tiles = DivideUp(s.in_height, kTile) * DivideUp(s.in_width, kTile);
  return tiles * kProducts * 2 <= s.out_height * s.out_width * 9 &&
         grad_tiles * kProducts * 2 <= s.in_height * s.in_width * 9;
}

void WinogradConv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
                  const float* bias, float* y) {
  const Tiling tiling{InputShape(shape), OutputShape(shape), shape.pad_top, shape.pad_left};
  const PackedPanels weights = PackWeights(context, tiling, [&](size_t in, size_t out, size_t i) {
    return w[(out * shape.in_channels + in) * kWeights + i];
  });
  TiledConvolution(context, tiling, weights).Run(shape.images, x, bias, y);
}

// A convolution with the kernels turned round.
void WinogradConvInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy,
                           const float* w, float* dx, const float* bias) {
  const Tiling tiling{OutputShape(shape), InputShape(shape), 2 - shape.pad_top, 2 - shape.pad_left};
  const PackedPanels weights = PackWeights(context, tiling, [&](size_t out, size_t in, size_t i) {
    return w[(out * shape.in_channels + in) * kWeights + kWeights - 1 - i];
  });
  TiledConvolution(context, tiling, weights).Run(shape.images, dy, bias, dx);
}

}  // namespace ort_ed
