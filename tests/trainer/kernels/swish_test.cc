#include "trainer/kernels/native/swish.h"

#include <limits>

#include "tests/trainer/kernels/kernel_test.h"

namespace ort_ed {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(SwishTest, RelativeErrorOfAFewRoundings) {
  std::vector<float> x;
  for (double v = -85; v <= 85; v += 0.0137) x.push_back(static_cast<float>(v));
  ForEachSimd([&](const KernelContext& context) {
    std::vector<float> y(x.size());
    Swish(context, x.size(), 1, x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = x[i] * Sigmoid(x[i]);
      ASSERT_NEAR(y[i], expected, 1e-6 * std::abs(expected) + 1e-37) << "x = " << x[i];
    }
  });
}

TEST(SwishTest, GradientsMatchTheFormula) {
  for (float beta : {1.0f, 0.7f, -1.3f, 0.0f}) {
    for (size_t count : {size_t{1}, size_t{7}, size_t{8}, size_t{33}, size_t{40000}}) {
      SCOPED_TRACE("beta " + std::to_string(beta) + ", count " + std::to_string(count));
      const std::vector<float> x = RandomFloats(count, 1), dy = RandomFloats(count, 2);
      std::vector<double> dx(count);
      double dbeta = 0, magnitude = 0;
      for (size_t i = 0; i < count; ++i) {
        const double s = Sigmoid(double{beta} * x[i]);
        dx[i] = dy[i] * (s + double{beta} * x[i] * s * (1 - s));
        const double term = dy[i] * double{x[i]} * x[i] * s * (1 - s);
        dbeta += term;
        magnitude += std::abs(term);
      }
      ForEachSimd([&](const KernelContext& context) {
        std::vector<float> result(count, NAN);
        const float dbeta_result = SwishGrad(context, count, beta, x.data(), dy.data(), result.data());
        ExpectClose(result, dx, 1e-6);
        EXPECT_NEAR(dbeta_result, dbeta, 1e-6 * magnitude);
      });
    }
  }
}

TEST(SwishTest, ExtremeValuesStayDefined) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1e30f, -1e30f, 200, -200, kInfinity, NAN, 0}, dy(x.size(), 1.0f);
  ForEachSimd([&](const KernelContext& context) {
    std::vector<float> y(x.size()), dx(x.size());
    Swish(context, x.size(), 1, x.data(), y.data());
    EXPECT_EQ(y[0], 1e30f);
    EXPECT_NEAR(y[1], 0, 1e-6);
    EXPECT_EQ(y[2], 200);
    EXPECT_NEAR(y[3], 0, 1e-30);
    EXPECT_EQ(y[4], kInfinity);
    EXPECT_TRUE(std::isnan(y[5]));
    EXPECT_EQ(y[6], 0);
    SwishGrad(context, x.size() - 3, 1, x.data(), dy.data(), dx.data());
    EXPECT_EQ(dx[0], 1);
    EXPECT_NEAR(dx[1], 0, 1e-6);
    EXPECT_EQ(dx[2], 1);
    EXPECT_NEAR(dx[3], 0, 1e-30);
    EXPECT_TRUE(std::isnan(SwishGrad(context, x.size(), 1, x.data(), dy.data(), dx.data())));
    EXPECT_TRUE(std::isnan(dx[5]));
  });
}

TEST(SwishTest, TheSameBitsForAnyNumberOfThreads) {
  const size_t count = 100001;
  const std::vector<float> x = RandomFloats(count, 1), dy = RandomFloats(count, 2);
  const TaskRunner one = Threads(1), three = Threads(3);
  for (const SimdKernels* simd : AvailableSimdKernels()) {
    std::vector<float> a(count), b(count);
    EXPECT_EQ(SwishGrad({*simd, one}, count, 0.9f, x.data(), dy.data(), a.data()),
              SwishGrad({*simd, three}, count, 0.9f, x.data(), dy.data(), b.data()));
    EXPECT_EQ(a, b);
  }
}

}  // namespace
}  // namespace ort_ed
