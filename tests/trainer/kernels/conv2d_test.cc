#include "trainer/kernels/conv/conv2d.h"

#include "tests/trainer/kernels/kernel_test.h"
#include "trainer/kernels/conv/winograd.h"

namespace ort_ed {
namespace {

struct ConvData {
  explicit ConvData(const Conv2dShape& s)
      : x(RandomFloats(s.images * s.in_channels * s.in_height * s.in_width, 1)),
        w(RandomFloats(s.out_channels * s.in_channels * s.kernel_height * s.kernel_width, 2)),
        bias(RandomFloats(s.out_channels, 3)),
        dy(RandomFloats(s.images * s.out_channels * s.out_height * s.out_width, 4)) {}
  std::vector<float> x, w, bias, dy;
};

struct ConvResult {
  ConvResult(const KernelContext& context, const Conv2dShape& s, const ConvData& data)
      : y(data.dy.size(), NAN), dx(data.x.size(), NAN), dw(data.w.size(), NAN), dbias(s.out_channels, NAN) {
    Conv2d(context, s, data.x.data(), data.w.data(), data.bias.data(), y.data());
    Conv2dInputGrad(context, s, data.dy.data(), data.w.data(), dx.data());
    Conv2dWeightGrad(context, s, data.x.data(), data.dy.data(), dw.data(), dbias.data());
  }
  bool operator==(const ConvResult&) const = default;
  std::vector<float> y, dx, dw, dbias;
};

// Calls visit(index of x, index of w, index of y) for every product of the convolution.
template <typename Visit>
void ForEachProduct(const Conv2dShape& s, Visit visit) {
  for (size_t n = 0; n < s.images; ++n)
    for (size_t o = 0; o < s.out_channels; ++o)
      for (size_t oy = 0; oy < s.out_height; ++oy)
        for (size_t ox = 0; ox < s.out_width; ++ox)
          for (size_t c = 0; c < s.in_channels; ++c)
            for (size_t ky = 0; ky < s.kernel_height; ++ky)
              for (size_t kx = 0; kx < s.kernel_width; ++kx) {
                const size_t iy = oy * s.stride_y + ky * s.dilation_y - s.pad_top;  // wraps if negative
                const size_t ix = ox * s.stride_x + kx * s.dilation_x - s.pad_left;
                if (iy >= s.in_height || ix >= s.in_width) continue;
                visit(((n * s.in_height + iy) * s.in_width + ix) * s.in_channels + c,
                      ((o * s.in_channels + c) * s.kernel_height + ky) * s.kernel_width + kx,
                      ((n * s.out_height + oy) * s.out_width + ox) * s.out_channels + o);
              }
}

void CheckAgainstSums(const Conv2dShape& s, const ConvData& data, const ConvResult& result) {
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
};

Conv2dShape ShapeOf(const ConvCase& c) {
  const auto extent = [&](size_t in, size_t kernel) {
    return (in + 2 * c.pad + c.more_padding - c.dilation * (kernel - 1) - 1) / c.stride + 1;
  };
  return {c.images,
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
}

class Conv2dTest : public testing::TestWithParam<ConvCase> {};

TEST_P(Conv2dTest, MatchesPlainSums) {
  const Conv2dShape shape = ShapeOf(GetParam());
  const ConvData data(shape);
  ForEachSimd(
      [&](const KernelContext& context) { CheckAgainstSums(shape, data, ConvResult(context, shape, data)); });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Conv2dTest,
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

TEST(Conv2dDetailTest, TheSameBitsForAnyNumberOfThreads) {
  const TaskRunner one = Threads(1), three = Threads(3);
  for (size_t stride : {1, 2}) {
    const Conv2dShape shape = ShapeOf({"", 70, 16, 7, 7, 24, 3, 3, stride, 1});
    EXPECT_EQ(WinogradPays(shape), stride == 1);
    const ConvData data(shape);
    for (const SimdKernels* simd : AvailableSimdKernels()) {
      EXPECT_EQ(ConvResult({*simd, one}, shape, data), ConvResult({*simd, three}, shape, data)) << simd->name;
    }
  }
}

TEST(Conv2dDetailTest, LayoutsThereAndBack) {
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

TEST(Conv2dDetailTest, NoImagesGiveZeroGradients) {
  for (size_t channels : {3, 16}) {
    const Conv2dShape shape = ShapeOf({"", 0, channels, 8, 8, channels, 3, 3, 1, 1});
    ForEachSimd([&](const KernelContext& context) {
      const ConvResult result(context, shape, ConvData(shape));
      EXPECT_EQ(result.dw, std::vector<float>(channels * channels * 9, 0.0f));
      EXPECT_EQ(result.dbias, std::vector<float>(channels, 0.0f));
    });
  }
}

}  // namespace
}  // namespace ort_ed
