#include "trainer/kernels/native/dense.h"

#include "tests/trainer/kernels/kernel_test.h"

namespace ort_ed {
namespace {

struct DenseData {
  explicit DenseData(const DenseShape& shape)
      : x(RandomFloats(shape.rows * shape.in, 1)),
        w(RandomFloats(shape.in * shape.out, 2)),
        bias(RandomFloats(shape.out, 3)),
        dy(RandomFloats(shape.rows * shape.out, 4)) {}
  std::vector<float> x, w, bias, dy;
};

struct DenseResult {
  // Without `beta`: no Swish.
  DenseResult(const KernelContext& context, const DenseShape& s, const DenseData& data, const float* beta)
      : y(s.rows * s.out, NAN),
        sigmoid(beta ? y.size() : 0, NAN),
        dx(s.rows * s.in, NAN),
        dw(s.in * s.out, NAN),
        dbias(s.out, NAN) {
    const DenseOperands operands = {data.x.data(), data.w.data(), data.dy.data()};
    DenseGradients gradients = {dx.data(), dw.data(), dbias.data()};
    if (beta) {
      DenseSwish(context, s, data.x.data(), data.w.data(), data.bias.data(), *beta, y.data(), sigmoid.data());
      const SwishResult swish = {*beta, y.data(), sigmoid.data()};
      gradients.dbeta = &dbeta;
      DenseGrad(context, s, operands, &swish, gradients);
    } else {
      Dense(context, s, data.x.data(), data.w.data(), data.bias.data(), y.data());
      DenseGrad(context, s, operands, nullptr, gradients);
    }
  }
  bool operator==(const DenseResult&) const = default;
  std::vector<float> y, sigmoid, dx, dw, dbias;
  float dbeta = 0;
};

struct ExpectedResult {
  ExpectedResult(const DenseShape& s, const DenseData& data, const float* beta)
      : y(s.rows * s.out), dx(s.rows * s.in), dw(s.in * s.out), dbias(s.out) {
    const auto weight = [&](size_t i, size_t o) { return s.transposed ? o * s.in + i : i * s.out + o; };
    for (size_t r = 0; r < s.rows; ++r) {
      for (size_t o = 0; o < s.out; ++o) {
        double z = data.bias[o], dz = data.dy[r * s.out + o];
        for (size_t i = 0; i < s.in; ++i) z += double{data.x[r * s.in + i]} * data.w[weight(i, o)];
        const double dy = dz, sigmoid = beta ? 1 / (1 + std::exp(-*beta * z)) : 1;
        y[r * s.out + o] = z * sigmoid;
        if (beta) {
          dz *= sigmoid + *beta * z * sigmoid * (1 - sigmoid);
          dbeta += dy * z * z * sigmoid * (1 - sigmoid);
          dbeta_size += std::abs(dy * z * z * sigmoid * (1 - sigmoid));
        }
        dbias[o] += dz;
        for (size_t i = 0; i < s.in; ++i) {
          dx[r * s.in + i] += dz * data.w[weight(i, o)];
          dw[weight(i, o)] += dz * data.x[r * s.in + i];
        }
      }
    }
  }
  std::vector<double> y, dx, dw, dbias;
  double dbeta = 0, dbeta_size = 0;
};

constexpr float kBeta = 0.3f;

void CheckAgainstSums(const KernelContext& context, const DenseShape& shape) {
  const DenseData data(shape);
  for (const float* beta : {static_cast<const float*>(nullptr), &kBeta}) {
    SCOPED_TRACE(beta ? "with Swish" : "linear");
    const DenseResult result(context, shape, data, beta);
    const ExpectedResult expected(shape, data, beta);
    ExpectClose(result.y, expected.y);
    ExpectClose(result.dx, expected.dx);
    ExpectClose(result.dw, expected.dw);
    ExpectClose(result.dbias, expected.dbias);
    EXPECT_NEAR(result.dbeta, expected.dbeta, 1e-5 * expected.dbeta_size);
  }
}

TEST(DenseTest, MatchesPlainSumsForEveryEdgeOfTheBlocks) {
  const DenseShape shapes[] = {{1, 1, 1},     {5, 3, 2},    {6, 16, 16},    {7, 17, 15}, {13, 33, 8},
                               {97, 300, 31}, {101, 6, 65}, {300, 513, 48}, {600, 70, 1}};
  ForEachSimd([&](const KernelContext& context) {
    for (DenseShape shape : shapes) {
      for (bool transposed : {false, true}) {
        SCOPED_TRACE("rows " + std::to_string(shape.rows) + (transposed ? ", transposed" : ""));
        shape.transposed = transposed;
        CheckAgainstSums(context, shape);
      }
    }
  });
}

TEST(DenseTest, ManyRowsAreSummedInPartsThatAddUp) {
  const DenseShape shape{2500, 7, 20};
  ForEachSimd([&](const KernelContext& context) { CheckAgainstSums(context, shape); });
}

// Equal terms, as of a bit that is set in every row: each addition to a long sum is rounded the same way.
TEST(DenseTest, SumsOverMillionsOfRowsKeepTheirDigits) {
  for (const DenseShape& shape : {DenseShape{2'600'000, 2, 9}, DenseShape{2'600'000, 3, 1}}) {
    const std::vector<float> x(shape.rows * shape.in, 1.0f), w(shape.in * shape.out, 0.5f),
        dy(shape.rows * shape.out, 0.3f);
    const double sum = static_cast<double>(0.3f) * static_cast<double>(shape.rows);
    ForEachSimd([&](const KernelContext& context) {
      std::vector<float> dw(w.size()), dbias(shape.out);
      DenseGrad(context, shape, {x.data(), w.data(), dy.data()}, nullptr,
                {.dw = dw.data(), .dbias = dbias.data()});
      for (const float value : dw) EXPECT_NEAR(value / sum, 1, 5e-5);
      for (const float value : dbias) EXPECT_NEAR(value / sum, 1, 5e-5);
    });
  }
}

TEST(DenseTest, TheSameBitsForAnyNumberOfThreads) {
  const DenseShape shape{4224, 32, 48};
  const DenseData data(shape);
  const TaskRunner one = Threads(1), three = Threads(3);
  for (const SimdKernels* simd : AvailableSimdKernels()) {
    EXPECT_EQ(DenseResult({*simd, one}, shape, data, &kBeta),
              DenseResult({*simd, three}, shape, data, &kBeta))
        << simd->name;
  }
}

TEST(DenseTest, EachGradientAloneIsTheSameAsAllTogether) {
  const DenseShape shape{700, 20, 33};
  const DenseData data(shape);
  const DenseOperands operands = {data.x.data(), data.w.data(), data.dy.data()};
  ForEachSimd([&](const KernelContext& context) {
    const DenseResult all(context, shape, data, &kBeta);
    const SwishResult swish = {kBeta, all.y.data(), all.sigmoid.data()};
    std::vector<float> dx(all.dx.size(), NAN), dw(all.dw.size(), NAN), dbias(shape.out, NAN);
    float dbeta = NAN;
    DenseGrad(context, shape, operands, &swish, {.dx = dx.data()});
    DenseGrad(context, shape, operands, &swish, {.dw = dw.data()});
    DenseGrad(context, shape, operands, &swish, {.dbias = dbias.data()});
    DenseGrad(context, shape, operands, &swish, {.dbeta = &dbeta});
    EXPECT_EQ(dx, all.dx);
    EXPECT_EQ(dw, all.dw);
    EXPECT_EQ(dbias, all.dbias);
    EXPECT_EQ(dbeta, all.dbeta);
  });
}

TEST(DenseTest, SwishFarFromZeroHasFiniteGradients) {
  const DenseShape shape{9, 1, 1};
  DenseData data(shape);
  data.x = {-1e30f, -1e4f, -300, -90, 0, 90, 300, 1e4f, 1e30f};
  data.w = {1};
  data.bias = {0};
  data.dy.assign(9, 1.0f);
  const float beta = 1;
  ForEachSimd([&](const KernelContext& context) {
    const DenseResult result(context, shape, data, &beta);
    for (size_t i : {0, 1, 2, 3}) EXPECT_NEAR(result.dx[i], 0, 1e-6) << i;
    EXPECT_EQ(result.dx[4], 0.5f);
    for (size_t i : {5, 6, 7, 8}) EXPECT_EQ(result.dx[i], 1) << i;
    EXPECT_TRUE(std::isfinite(result.dbeta));
  });
}

TEST(DenseTest, NoRowsGiveZeroGradients) {
  const DenseShape shape{0, 5, 7};
  ForEachSimd([&](const KernelContext& context) {
    const DenseResult result(context, shape, DenseData(shape), &kBeta);
    EXPECT_EQ(result.dw, std::vector<float>(35, 0.0f));
    EXPECT_EQ(result.dbias, std::vector<float>(7, 0.0f));
  });
}

}  // namespace
}  // namespace ort_ed
