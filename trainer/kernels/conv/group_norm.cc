#include "trainer/kernels/conv/group_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

// What one image needs, a number a channel each.
struct Moments {
  explicit Moments(size_t channels) : mean(channels), inverse(channels) {}
  std::vector<float> mean, inverse;  // of the channel's group
};

// Sums over the channels of each group, times `factor`, at all of them.
void SpreadGroupSums(const GroupNormShape& shape, float factor, std::vector<float>& sums) {
  const size_t size = shape.channels / shape.groups;
  for (auto group = sums.begin(); group != sums.end(); group += static_cast<ptrdiff_t>(size)) {
    double sum = 0;
    for (size_t c = 0; c < size; ++c) sum += group[static_cast<ptrdiff_t>(c)];
    std::fill_n(group, size, static_cast<float>(sum * factor));
  }
}

float OneOfGroup(const GroupNormShape& shape) {
  return static_cast<float>(shape.groups) / static_cast<float>(shape.pixels * shape.channels);
}

void FindMoments(const KernelContext& context, const GroupNormShape& shape, const float* x,
                 Moments& moments) {
  std::ranges::fill(moments.mean, 0.0f);
  std::ranges::fill(moments.inverse, 0.0f);
  context.simd.add_rows(shape.pixels, shape.channels, x, shape.channels, moments.mean.data());
  SpreadGroupSums(shape, OneOfGroup(shape), moments.mean);
  context.simd.add_centred_products(shape.pixels, shape.channels, x, moments.mean.data(), x,
                                    moments.mean.data(), moments.inverse.data());
  SpreadGroupSums(shape, OneOfGroup(shape), moments.inverse);
  for (float& value : moments.inverse) value = 1 / std::sqrt(value + shape.epsilon);
}

size_t TaskImages(const GroupNormShape& shape) {
  constexpr size_t kTaskFloats = 1 << 14;
  return std::max<size_t>(kTaskFloats / std::max<size_t>(shape.pixels * shape.channels, 1), 1);
}

}  // namespace

void GroupNorm(const KernelContext& context, const GroupNormShape& shape, const float* x, const float* scale,
               const float* bias, float* y) {
  const size_t size = shape.pixels * shape.channels;
  ForRanges(context, shape.images, TaskImages(shape), [&](size_t, size_t first, size_t count) {
    Moments moments(shape.channels);
    std::vector<float> factor(shape.channels), start(shape.channels);
    for (size_t n = first; n < first + count; ++n) {
      FindMoments(context, shape, x + n * size, moments);
      for (size_t c = 0; c < shape.channels; ++c) {
        factor[c] = moments.inverse[c] * (scale ? scale[c] : 1);
        start[c] = (bias ? bias[c] : 0) - moments.mean[c] * factor[c];
      }
      context.simd.combine_rows(shape.pixels, shape.channels, x + n * size, factor.data(), nullptr, nullptr,
                                start.data(), y + n * size);
    }
  });
}

// With z = (x - mean) * inverse and g = dy * scale: dx = inverse * (g - mean of g - z * mean of g * z).
void GroupNormGrad(const KernelContext& context, const GroupNormShape& shape, const float* x,
                   const float* scale, const float* dy, float* dx, float* dscale, float* dbias) {
  const size_t channels = shape.channels, size = shape.pixels * channels;
  std::vector<float> slopes(shape.images * channels), sums(shape.images * channels);
  ForRanges(context, shape.images, TaskImages(shape), [&](size_t, size_t first, size_t count) {
    Moments moments(channels);
    std::vector<float> average(channels), along(channels), of_dy(channels), of_x(channels), start(channels);
    for (size_t n = first; n < first + count; ++n) {
      FindMoments(context, shape, x + n * size, moments);
      float *const slope = &slopes[n * channels], *const sum = &sums[n * channels];
      context.simd.add_rows(shape.pixels, channels, dy + n * size, channels, sum);
      context.simd.add_centred_products(shape.pixels, channels, dy + n * size, nullptr, x + n * size,
                                        moments.mean.data(), slope);
      for (size_t c = 0; c < channels; ++c) {
        slope[c] *= moments.inverse[c];
        average[c] = sum[c] * (scale ? scale[c] : 1);
        along[c] = slope[c] * (scale ? scale[c] : 1);
      }
      SpreadGroupSums(shape, OneOfGroup(shape), average);
      SpreadGroupSums(shape, OneOfGroup(shape), along);
      for (size_t c = 0; c < channels; ++c) {
        const float inverse = moments.inverse[c];
        of_dy[c] = inverse * (scale ? scale[c] : 1);
        of_x[c] = -inverse * inverse * along[c];
        start[c] = -inverse * average[c] - moments.mean[c] * of_x[c];
      }
      context.simd.combine_rows(shape.pixels, channels, dy + n * size, of_dy.data(), x + n * size,
                                of_x.data(), start.data(), dx + n * size);
    }
  });
  if (dscale) SumRows(context, shape.images, channels, slopes.data(), dscale);
  if (dbias) SumRows(context, shape.images, channels, sums.data(), dbias);
}

}  // namespace ort_ed
