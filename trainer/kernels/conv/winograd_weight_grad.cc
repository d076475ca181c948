#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/winograd.h"
#include "trainer/kernels/conv/winograd_tiles.h"
#include "trainer/kernels/native/outer_product_sum.h"
#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

// Tiles whose transforms are held in memory at once; their products are then summed.
constexpr size_t kHeldTiles = 192;
// Tiles summed at once: their rows stay in the first-level cache.
constexpr size_t kSumTiles = 96;

// For each of the 36 places of a patch, du[out, in] = sum over tiles of dy's transform times x's transform;
// then dw = G' * du * G. The places are independent of one another, so threads share the work without sharing
// sums.
class TiledWeightGrad {
 public:
  TiledWeightGrad(const KernelContext& context, const ConvShape& shape)
      : context_(context),
        shape_(shape),
        tiling_{InputShape(shape), OutputShape(shape), shape.pad_top, shape.pad_left},
        sum_(context.simd, shape.out_channels, 1, shape.in_channels, kProducts),
        x_stride_(sum_.right_blocks() * sum_.panel()),
        held_images_(std::clamp<size_t>(kHeldTiles / tiling_.tiles(), 1, std::max<size_t>(shape.images, 1))),
        held_tiles_(held_images_ * tiling_.tiles()),
        x_product_stride_(held_tiles_ * x_stride_ + kCacheLine),
        dy_product_stride_(held_tiles_ * shape.out_channels + kCacheLine),
        x_transformed_(kProducts * x_product_stride_ * sizeof(float)),
        dy_transformed_(kProducts * dy_product_stride_ * sizeof(float)),
        image_bias_(held_images_ * shape.out_channels),
        zeros_(std::max(shape.in_channels, shape.out_channels)) {}

  void Run(const float* x, const float* dy, float* dw, float* dbias) {
    RowSum bias(shape_.out_channels);
    for (size_t first = 0; first < shape_.images; first += held_images_) {
      const size_t images = std::min(held_images_, shape_.images - first);
      context_.run_tasks(images, [&](size_t n) {
        TransformImage(n, x + (first + n) * tiling_.source.size(), dy + (first + n) * tiling_.result.size());
      });
      context_.run_tasks(kProducts, [&](size_t product) { Sum(product, images * tiling_.tiles()); });
      if (dbias) bias.Add(context_.simd, images, image_bias_.data(), shape_.out_channels);
    }
    if (dbias) bias.Finish(context_.simd, dbias);
    sum_.FinishParts();
    context_.run_tasks(shape_.out_channels,
                       [&](size_t out) { Finish(out, dw + out * shape_.in_channels * kWeights); });
  }

 private:
  void TransformImage(size_t n, const float* x, const float* dy) {
    const ImageShape &input = tiling_.source, &output = tiling_.result;
    Prefetch(x, input.size());
    Prefetch(dy, output.size());
    for (size_t t = 0; t < tiling_.tiles(); ++t) {
      const size_t tile = n * tiling_.tiles() + t;
      const float* square[kProducts];
      float* x_tile = x_transformed_.floats() + tile * x_stride_;
      tiling_.SourceSquare(t, x, zeros_.data(), square);
      context_.simd.winograd_input(input.channels, square, x_tile, x_product_stride_);
      for (size_t i = 0; i < kProducts && x_stride_ > input.channels; ++i) {
        std::fill_n(x_tile + i * x_product_stride_ + input.channels, x_stride_ - input.channels, 0.0f);
      }
      tiling_.ResultSquare<const float*>(t, dy, zeros_.data(), square);
      context_.simd.winograd_output_grad(
          output.channels, square, dy_transformed_.floats() + tile * output.channels, dy_product_stride_);
    }
    float* bias = &image_bias_[n * output.channels];
    std::fill_n(bias, output.channels, 0.0f);
    context_.simd.add_rows(output.pixels(), output.channels, dy, output.channels, bias);
  }

  void Sum(size_t product, size_t tiles) {
    Scratch scratch(Scratch::Bytes<float>(sum_.PackedLeftSize(kSumTiles)));
    float* left = scratch.Take<float>(sum_.PackedLeftSize(kSumTiles));
    const float* right[kSumTiles];
    const float* x = x_transformed_.floats() + product * x_product_stride_;
    const float* dy = dy_transformed_.floats() + product * dy_product_stride_;
    for (size_t tile = 0; tile < tiles; tile += kSumTiles) {
      const size_t count = std::min(kSumTiles, tiles - tile);
      sum_.PackLeft(count, dy + tile * shape_.out_channels, shape_.out_channels, left);
      for (size_t i = 0; i < count; ++i) right[i] = x + (tile + i) * x_stride_;
      sum_.Add(product, count, left, right, sum_.panel());
    }
  }

  void Finish(size_t out, float* dw) const {
    Scratch scratch(Scratch::Bytes<float>(kWeights * shape_.in_channels));
    float* const elements = scratch.Take<float>(kWeights * shape_.in_channels);
    const float* du[kProducts];
    for (size_t product = 0; product < kProducts; ++product) du[product] = sum_.Row(product, out);
    context_.simd.winograd_weights_grad(shape_.in_channels, du, elements, shape_.in_channels);
    for (size_t in = 0; in < shape_.in_channels; ++in)
      for (size_t i = 0; i < kWeights; ++i) *dw++ = elements[i * shape_.in_channels + in];
  }

  const KernelContext& context_;
  const ConvShape& shape_;
  Tiling tiling_;
  OuterProductSum sum_;  // its parts are the places of a patch
  size_t x_stride_;
  size_t held_images_, held_tiles_;
  size_t x_product_stride_, dy_product_stride_;
  AlignedBuffer x_transformed_, dy_transformed_;  // [product][tile][channel]
  std::vector<float> image_bias_;                 // [image][out channel]
  std::vector<float> zeros_;                      // a pixel outside the image
};

}  // namespace

void WinogradConvWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x,
                            const float* dy, float* dw, float* dbias) {
  TiledWeightGrad(context, shape).Run(x, dy, dw, dbias);
}

}  // namespace ort_ed
