#include <algorithm>
#include <numeric>

#include "tests/trainer/kernels/kernel_test.h"
#include "trainer/kernels/conv/group_norm.h"
#include "trainer/kernels/conv/pooling.h"
#include "trainer/kernels/native/activation.h"
#include "trainer/kernels/native/layer_norm.h"
#include "trainer/kernels/native/matrices.h"

namespace ort_ed {
namespace {

struct Norm {
  std::vector<double> y, dx, dscale, dbias;
};

// Groups of numbers at `indices`, all of one mean; the channel of an index is index % channels.
void NormaliseGroup(const std::vector<size_t>& indices, size_t channels, double epsilon,
                    const std::vector<float>& x, const std::vector<float>& scale,
                    const std::vector<float>& bias, const std::vector<float>& dy, Norm& result) {
  const auto n = static_cast<double>(indices.size());
  double mean = 0, variance = 0, slope = 0, along = 0;
  for (const size_t i : indices) mean += x[i] / n;
  for (const size_t i : indices) variance += (x[i] - mean) * (x[i] - mean) / n;
  const double inverse = 1 / std::sqrt(variance + epsilon);
  for (const size_t i : indices) {
    const double z = (x[i] - mean) * inverse, g = double{dy[i]} * scale[i % channels];
    result.y[i] = z * scale[i % channels] + bias[i % channels];
    result.dscale[i % channels] += dy[i] * z;
    result.dbias[i % channels] += dy[i];
    slope += g / n;
    along += g * z / n;
  }
  for (const size_t i : indices) {
    const double z = (x[i] - mean) * inverse;
    result.dx[i] = inverse * (double{dy[i]} * scale[i % channels] - slope - z * along);
  }
}

TEST(GroupNormTest, MatchesPlainSums) {
  for (const GroupNormShape s : {GroupNormShape{3, 10, 12, 4, 1e-5f}, GroupNormShape{2, 49, 35, 35, 1e-3f},
                                 GroupNormShape{40, 7, 16, 1, 1e-5f}, GroupNormShape{1, 1, 6, 2, 1e-5f}}) {
    const size_t size = s.images * s.pixels * s.channels;
    std::vector<float> x = RandomFloats(size, 1);
    for (float& value : x) value += 5;  // far from zero
    const std::vector<float> scale = RandomFloats(s.channels, 2), bias = RandomFloats(s.channels, 3),
                             dy = RandomFloats(size, 4);
    Norm expected{std::vector<double>(size), std::vector<double>(size), std::vector<double>(s.channels),
                  std::vector<double>(s.channels)};
    for (size_t n = 0; n < s.images; ++n) {
      for (size_t group = 0; group < s.groups; ++group) {
        std::vector<size_t> indices;
        for (size_t i = n * s.pixels * s.channels; i < (n + 1) * s.pixels * s.channels; ++i)
          if (i % s.channels / (s.channels / s.groups) == group) indices.push_back(i);
        NormaliseGroup(indices, s.channels, s.epsilon, x, scale, bias, dy, expected);
      }
    }
    ForEachSimd([&](const KernelContext& context) {
      std::vector<float> y(size, NAN), dx(size, NAN), dscale(s.channels, NAN), dbias(s.channels, NAN);
      GroupNorm(context, s, x.data(), scale.data(), bias.data(), y.data());
      GroupNormGrad(context, s, x.data(), scale.data(), dy.data(), dx.data(), dscale.data(), dbias.data());
      ExpectClose(y, expected.y, 2e-5);
      ExpectClose(dx, expected.dx, 2e-5);
      ExpectClose(dscale, expected.dscale, 2e-5);
      ExpectClose(dbias, expected.dbias);
    });
  }
}

TEST(LayerNormTest, MatchesPlainSums) {
  for (const LayerNormShape s : {LayerNormShape{5, 64, 1e-5f}, LayerNormShape{300, 7, 1e-3f},
                                 LayerNormShape{70, 333, 1e-5f}, LayerNormShape{3, 1, 1.0f}}) {
    const size_t size = s.rows * s.columns;
    const std::vector<float> x = RandomFloats(size, 1), scale = RandomFloats(s.columns, 2),
                             bias = RandomFloats(s.columns, 3), dy = RandomFloats(size, 4);
    Norm expected{std::vector<double>(size), std::vector<double>(size), std::vector<double>(s.columns),
                  std::vector<double>(s.columns)};
    for (size_t r = 0; r < s.rows; ++r) {
      std::vector<size_t> indices(s.columns);
      std::iota(indices.begin(), indices.end(), r * s.columns);
      NormaliseGroup(indices, s.columns, s.epsilon, x, scale, bias, dy, expected);
    }
    ForEachSimd([&](const KernelContext& context) {
      std::vector<float> y(size, NAN), dx(size, NAN), dscale(s.columns, NAN), dbias(s.columns, NAN);
      LayerNorm(context, s, x.data(), scale.data(), bias.data(), y.data());
      LayerNormGrad(context, s, x.data(), scale.data(), dy.data(), dx.data(), dscale.data(), dbias.data());
      ExpectClose(y, expected.y);
      ExpectClose(dx, expected.dx);
      ExpectClose(dscale, expected.dscale);
      ExpectClose(dbias, expected.dbias);
    });
  }
}

TEST(GeluTest, MatchesErf) {
  std::vector<float> x;
  for (float value = -12; value < 12; value += 0.0137f) x.push_back(value);
  const std::vector<float> dy = RandomFloats(x.size(), 1);
  ForEachSimd([&](const KernelContext& context) {
    std::vector<float> y(x.size(), NAN), dx(x.size(), NAN);
    Gelu(context, x.size(), x.data(), y.data());
    GeluGrad(context, x.size(), x.data(), dy.data(), dx.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], share = 0.5 * std::erfc(-v / std::sqrt(2.0));
      const double density = std::exp(-0.5 * v * v) / std::sqrt(2 * std::acos(-1.0));
      ASSERT_NEAR(y[i], v * share, 1e-6 * std::max(1.0, std::abs(v))) << v;
      ASSERT_NEAR(dx[i], dy[i] * (share + v * density), 2e-6 * std::max(1.0f, std::abs(dy[i]))) << v;
    }
  });
}

TEST(MaxPoolTest, TheFirstOfEqualsHasTheGradient) {
  ConvShape s{2, 5, 4, 6, 5, 2, 3, 3, 2, 2, 2};
  s.pad_top = 1;
  s.out_height = 2;
  std::vector<float> x(s.images * 24 * 5), dy(s.images * 6 * 5, 1.0f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 3);
  ForEachSimd([&](const KernelContext& context) {
    std::vector<float> y(dy.size(), NAN), dx(x.size(), NAN), expected(x.size());
    MaxPool(context, s, x.data(), y.data());
    MaxPoolGrad(context, s, x.data(), dy.data(), dx.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t c = i % 5, ox = i / 5 % 3, oy = i / 15 % 2, n = i / 30;
      size_t best = x.size();
      for (size_t k = 0; k < 6; ++k) {
        const size_t iy = oy * 2 + k / 2 - 1, ix = ox * 2 + k % 2;  // wraps if negative
        if (iy >= 4) continue;
        const size_t at = ((n * 4 + iy) * 6 + ix) * 5 + c;
        if (best == x.size() || x[at] > x[best]) best = at;
      }
      EXPECT_EQ(y[i], x[best]);
      expected[best] += 1;
    }
    EXPECT_EQ(dx, expected);
  });
}

// The product of matrices that lie there in either way, in double.
std::vector<double> Product(size_t count, size_t rows, size_t depth, size_t columns,
                            const std::vector<float>& a, bool transposed_a, bool shared_a,
                            const std::vector<float>& b, bool transposed_b) {
  std::vector<double> out(count * rows * columns);
  for (size_t i = 0; i < count; ++i)
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < columns; ++c)
        for (size_t d = 0; d < depth; ++d)
          out[(i * rows + r) * columns + c] +=
              double{a[(shared_a ? 0 : i * rows * depth) + (transposed_a ? d * rows + r : r * depth + d)]} *
              b[i * depth * columns + (transposed_b ? c * depth + d : d * columns + c)];
  return out;
}

TEST(MatricesTest, MatchPlainSums) {
  for (const bool transposed_a : {false, true}) {
    for (const bool transposed_b : {false, true}) {
      for (const bool shared : {false, true}) {
        for (const auto& [count, rows, depth, columns] :
             {std::array<size_t, 4>{7, 16, 16, 16}, {3, 5, 9, 37}, {2, 100, 3, 8}, {400, 1, 2, 1}}) {
          const MatricesShape s{count, rows, depth, columns, transposed_a, transposed_b, shared};
          const std::vector<float> a = RandomFloats((shared ? 1 : count) * rows * depth, 1),
                                   b = RandomFloats(count * depth * columns, 2);
          ForEachSimd([&](const KernelContext& context) {
            std::vector<float> out(count * rows * columns, NAN);
            MultiplyMatrices(context, s, a.data(), b.data(), out.data());
            ExpectClose(out, Product(count, rows, depth, columns, a, transposed_a, shared, b, transposed_b));
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace ort_ed
