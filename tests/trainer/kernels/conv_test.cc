#include "trainer/kernels/conv/conv.h"

#include "tests/trainer/kernels/kernel_test.h"
#include "trainer/kernels/conv/winograd.h"

namespace ort_ed {
namespace {

struct ConvData {
  explicit ConvData(const ConvShape& s)
      : x(RandomFloats(s.images * s.in_channels * s.in_depth * s.in_height * s.in_width, 1)),
        w(RandomFloats(s.out_channels * s.group_inputs() * s.taps(), 2)),
        bias(RandomFloats(s.out_channels, 3)),
        dy(RandomFloats(s.images * s.out_channels * s.out_depth * s.out_height * s.out_width, 4)) {}
  std::vector<float> x, w, bias, dy;
};

struct ConvResult {
  ConvResult(const KernelContext& context, const ConvShape& s, const ConvData& data)
      : y(data.dy.size(), NAN), dx(data.x.size(), NAN), dw(data.w.size(), NAN), dbias(s.out_channels, NAN) {
    Conv(context, s, data.x.data(), data.w.data(), data.bias.data(), y.data());
    ConvInputGrad(context, s, data.dy.data(), data.w.data(), dx.data());
    ConvWeightGrad(context, s, data.x.data(), data.dy.data(), dw.data(), dbias.data());
  }
  bool operator==(const ConvResult&) const = default;
  std::vector<float> y, dx, dw, dbias;
};

// Calls visit(index of x, index of w, index of y) for every product of the convolution.
template <typename Visit>
void ForEachProduct(const ConvShape& s, Visit visit) {
  for (size_t n = 0; n < s.images; ++n)
    for (size_t o = 0; o < s.out_channels; ++o)
      for (size_t oz = 0; oz < s.out_depth; ++oz)
        for (size_t oy = 0; oy < s.out_height; ++oy)
          for (size_t ox = 0; ox < s.out_width; ++ox)
            for (size_t c = 0; c < s.group_inputs(); ++c)
              for (size_t k = 0; k < s.taps(); ++k) {
                const size_t kx = k % s.kernel_width, ky = k / s.kernel_width % s.kernel_height,
                             kz = k / s.kernel_width / s.kernel_height;
                const size_t iz = oz * s.stride_z + kz * s.dilation_z - s.pad_front;  // wraps if negative
                const size_t iy = oy * s.stride_y + ky * s.dilation_y - s.pad_top;
                const size_t ix = ox * s.stride_x + kx * s.dilation_x - s.pad_left;
                if (iz >= s.in_depth || iy >= s.in_height || ix >= s.in_width) continue;
                const size_t in = o / s.group_outputs() * s.group_inputs() + c;
                visit((((n * s.in_depth + iz) * s.in_height + iy) * s.in_width + ix) * s.in_channels + in,
                      (o * s.group_inputs() + c) * s.taps() + k,
                      (((n * s.out_depth + oz) * s.out_height + oy) * s.out_width + ox) * s.out_channels + o);
              }
}

void CheckAgainstSums(const ConvShape& s, const ConvData& data, const ConvResult& result) {
  std::vector<double> y(data.dy.size()), dx(data.x.size()), dw(data.w.size()), dbias(s.out_channels);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = data.bias[i % s.out_channels];
    dbias[i % s.out_channels] += data.dy[i];
  }
  ForEachProduct(s, [&](size_t xi, size_t wi, size_t yi) {
    y[yi] += double{data.x[xi]} * data.w[wi];
    dx[xi] += double{data.dy[yi]} * data.w[wi];
    dw[wi] += double{data.dy[yi]} * data.x[xi];
  });
  const double tolerance = WinogradPays(s) ? 4e-5 : 1e-5;
  ExpectClose(result.y, y, tolerance);
  ExpectClose(result.dx, dx, tolerance);
  ExpectClose(result.dw, dw, tolerance);
  ExpectClose(result.dbias, dbias);
}

struct ConvCase {
  const char* name;
  size_t images, in_channels, height, width, out_channels, kernel_height, kernel_width;
  size_t stride = 1, pad = 0, dilation = 1;
  size_t more_padding = 0;  // at the bottom and on the right
  size_t groups = 1, depth = 1, kernel_depth = 1;
};

ConvShape ShapeOf(const ConvCase& c) {
  const auto extent = [&](size_t in, size_t kernel) {
    return (in + 2 * c.pad + c.more_padding - c.dilation * (kernel - 1) - 1) / c.stride + 1;
  };
  ConvShape shape{c.images,
                  c.in_channels,
                  c.height,
                  c.width,
                  c.out_channels,
                  extent(c.height, c.kernel_height),
                  extent(c.width, c.kernel_width),
                  c.kernel_height,
                  c.kernel_width,
                  c.stride,
                  c.stride,
                  c.dilation,
                  c.dilation,
                  c.pad,
                  c.pad};
  shape.groups = c.groups;
  if (c.depth == 1) return shape;
  shape.in_depth = c.depth;
  shape.out_depth = extent(c.depth, c.kernel_depth);
  shape.kernel_depth = c.kernel_depth;
  shape.stride_z = c.stride;
  shape.dilation_z = c.dilation;
  shape.pad_front = c.pad;
  return shape;
}

class ConvTest : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvTest, MatchesPlainSums) {
  const ConvShape shape = ShapeOf(GetParam());
  const ConvData data(shape);
  ForEachSimd(
      [&](const KernelContext& context) { CheckAgainstSums(shape, data, ConvResult(context, shape, data)); });
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvTest,
                         testing::Values(ConvCase{"one_pixel", 1, 1, 1, 1, 1, 1, 1},               //
                                         ConvCase{"residual_block", 7, 64, 7, 7, 64, 3, 3, 1, 1},  //
                                         ConvCase{"tiles_beyond_the_edge", 3, 17, 14, 13, 35, 3, 3, 1, 1},
                                         ConvCase{"tiles_without_padding", 2, 16, 9, 10, 16, 3, 3, 1, 0},
                                         ConvCase{"tiles_with_much_padding", 2, 20, 8, 7, 18, 3, 3, 1, 2},
                                         ConvCase{"tiles_of_many_images", 70, 16, 7, 7, 17, 3, 3, 1, 1},
                                         ConvCase{"downsampling", 2, 24, 14, 14, 40, 3, 3, 2, 1},           //
                                         ConvCase{"shortcut", 3, 16, 14, 14, 32, 1, 1, 2},                  //
                                         ConvCase{"first_layer", 2, 1, 28, 28, 20, 3, 3, 1, 1},             //
                                         ConvCase{"colours", 3, 3, 9, 11, 17, 5, 5, 1, 2},                  //
                                         ConvCase{"odd_channels", 5, 13, 6, 5, 7, 3, 3, 1, 1},              //
                                         ConvCase{"wide_kernel", 2, 9, 8, 12, 5, 2, 5, 1, 1},               //
                                         ConvCase{"even_kernel", 2, 10, 9, 9, 18, 4, 4, 2, 1},              //
                                         ConvCase{"stride_three", 2, 8, 11, 10, 9, 3, 3, 3, 0},             //
                                         ConvCase{"stride_beyond_kernel", 2, 8, 11, 10, 9, 2, 2, 3, 1},     //
                                         ConvCase{"dilated", 2, 12, 10, 10, 12, 3, 3, 1, 2, 2},             //
                                         ConvCase{"dilated_and_strided", 2, 12, 11, 10, 6, 3, 3, 2, 1, 2},  //
                                         ConvCase{"more_padding_below", 2, 12, 8, 8, 6, 3, 3, 2, 0, 1, 1},  //
                                         ConvCase{"kernel_as_large_as_image", 3, 20, 4, 4, 30, 4, 4},       //
                                         ConvCase{"deep", 1, 300, 3, 3, 20, 3, 3, 1, 1},                    //
                                         ConvCase{"many_images", 150, 5, 4, 4, 6, 3, 3, 1, 1}),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Groups, ConvTest,
    testing::Values(ConvCase{"groups_of_eight", 3, 24, 7, 6, 24, 3, 3, 1, 1, 1, 0, 3},
                    ConvCase{"uneven_groups", 2, 10, 9, 8, 15, 3, 2, 2, 1, 1, 1, 5},
                    ConvCase{"groups_of_pixels", 2, 12, 5, 5, 20, 1, 1, 1, 0, 1, 0, 4},
                    ConvCase{"groups_of_one_input", 2, 6, 7, 7, 12, 3, 3, 1, 1, 1, 0, 6},
                    ConvCase{"wide_groups", 2, 96, 4, 4, 80, 3, 3, 1, 1, 1, 0, 2},
                    ConvCase{"depthwise", 5, 19, 9, 11, 19, 3, 3, 1, 1, 1, 0, 19},
                    ConvCase{"depthwise_wide", 2, 134, 6, 13, 134, 3, 3, 1, 1, 1, 0, 134},
                    ConvCase{"depthwise_larger_than_image", 3, 48, 5, 5, 48, 7, 7, 1, 3, 1, 0, 48},
                    ConvCase{"depthwise_strided", 2, 33, 11, 10, 33, 3, 3, 2, 1, 1, 1, 33},
                    ConvCase{"depthwise_dilated", 2, 16, 12, 9, 16, 3, 3, 1, 2, 2, 0, 16},
                    ConvCase{"depthwise_stride_beyond_kernel", 2, 7, 11, 10, 7, 2, 2, 3, 1, 1, 0, 7},
                    ConvCase{"depthwise_many_images", 90, 4, 28, 28, 4, 3, 3, 1, 1, 1, 0, 4}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Axes, ConvTest,
    testing::Values(ConvCase{"one_axis", 3, 12, 1, 40, 20, 1, 3, 1, 0, 4},
                    ConvCase{"solid", 2, 5, 6, 5, 9, 3, 3, 1, 1, 1, 0, 1, 4, 3},
                    ConvCase{"solid_first_layer", 3, 1, 8, 8, 16, 3, 3, 1, 1, 1, 0, 1, 8, 3},
                    ConvCase{"solid_strided", 2, 16, 6, 7, 18, 3, 3, 2, 1, 1, 1, 1, 5, 2},
                    ConvCase{"solid_dilated", 2, 9, 7, 6, 8, 2, 2, 1, 2, 3, 0, 1, 8, 2},
                    ConvCase{"solid_groups", 2, 12, 5, 5, 8, 3, 3, 1, 1, 1, 0, 4, 5, 3},
                    ConvCase{"solid_depthwise", 2, 20, 5, 6, 20, 3, 3, 2, 1, 1, 0, 20, 6, 3}),
    [](const auto& test) { return test.param.name; });

TEST(ConvDetailTest, TheSameBitsForAnyNumberOfThreads) {
  const TaskRunner one = Threads(1), three = Threads(3);
  for (size_t stride : {1, 2}) {
    const ConvShape shape = ShapeOf({"", 70, 16, 7, 7, 24, 3, 3, stride, 1});
    EXPECT_EQ(WinogradPays(shape), stride == 1);
    const ConvData data(shape);
    for (const SimdKernels* simd : AvailableSimdKernels()) {
      EXPECT_EQ(ConvResult({*simd, one}, shape, data), ConvResult({*simd, three}, shape, data)) << simd->name;
    }
  }
}

TEST(ConvDetailTest, GroupsToo) {
  const TaskRunner one = Threads(1), three = Threads(3);
  for (size_t groups : {4, 16}) {
    const ConvShape shape = ShapeOf({"", 70, 16, 7, 7, 16, 3, 3, 1, 1, 1, 0, groups});
    const ConvData data(shape);
    for (const SimdKernels* simd : AvailableSimdKernels())
      EXPECT_EQ(ConvResult({*simd, one}, shape, data), ConvResult({*simd, three}, shape, data)) << simd->name;
  }
}

TEST(ConvDetailTest, TheInputGradientTakesABias) {
  for (size_t groups : {1, 2, 16}) {
    const ConvShape shape = ShapeOf({"", 3, 16, 7, 7, 16, 2, 2, 2, 0, 1, 0, groups});
    const ConvData data(shape);
    ForEachSimd([&](const KernelContext& context) {
      std::vector<float> without(data.x.size(), NAN), with(data.x.size(), NAN);
      ConvInputGrad(context, shape, data.dy.data(), data.w.data(), without.data());
      ConvInputGrad(context, shape, data.dy.data(), data.w.data(), with.data(), data.bias.data());
      for (size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(with[i], without[i] + data.bias[i % 16], 1e-5);
    });
  }
}

TEST(ConvDetailTest, LayoutsThereAndBack) {
  for (const PixelLayout layout : {PixelLayout{2, 3, 5}, PixelLayout{3, 8, 49}, PixelLayout{2, 17, 9}}) {
    const std::vector<float> images = RandomFloats(layout.images * layout.channels * layout.pixels, 1);
    ForEachSimd([&](const KernelContext& context) {
      std::vector<float> last(images.size(), NAN), back(images.size(), NAN);
      ToChannelsLast(context, layout, images.data(), last.data());
      ToChannelsFirst(context, layout, last.data(), back.data());
      EXPECT_EQ(back, images);
      EXPECT_EQ(last[layout.channels + 1], images[layout.pixels + 1]);  // pixel 1, channel 1 of image 0
    });
  }
}

TEST(ConvDetailTest, NoImagesGiveZeroGradients) {
  for (size_t channels : {3, 16}) {
    const ConvShape shape = ShapeOf({"", 0, channels, 8, 8, channels, 3, 3, 1, 1});
    ForEachSimd([&](const KernelContext& context) {
      const ConvResult result(context, shape, ConvData(shape));
      EXPECT_EQ(result.dw, std::vector<float>(channels * channels * 9, 0.0f));
      EXPECT_EQ(result.dbias, std::vector<float>(channels, 0.0f));
    });
  }
}

}  // namespace
}  // namespace ort_ed
