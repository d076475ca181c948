#include "trainer/kernels/dense.h"

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
  DenseResult(const KernelContext& context, const DenseShape& s, const DenseData& data)
      : y(s.rows * s.out, NAN), dx(s.rows * s.in, NAN), dw(s.in * s.out, NAN), dbias(s.out, NAN) {
    Dense(context, s, data.x.data(), data.w.data(), data.bias.data(), y.data());
    DenseInputGrad(context, s, data.dy.data(), data.w.data(), dx.data());
    DenseWeightGrad(context, s, data.x.data(), data.dy.data(), dw.data(), dbias.data());
  }
  bool operator==(const DenseResult&) const = default;
  std::vector<float> y, dx, dw, dbias;
};

void CheckAgainstSums(const DenseShape& s, const DenseData& data, const DenseResult& result) {
  std::vector<double> y(s.rows * s.out), dx(s.rows * s.in), dw(s.in * s.out), dbias(s.out);
  for (size_t r = 0; r < s.rows; ++r) {
    for (size_t o = 0; o < s.out; ++o) {
      const double dy = data.dy[r * s.out + o];
      y[r * s.out + o] += data.bias[o];
      dbias[o] += dy;
      for (size_t i = 0; i < s.in; ++i) {
        const size_t wi = s.transposed ? o * s.in + i : i * s.out + o;
        y[r * s.out + o] += double{data.x[r * s.in + i]} * data.w[wi];
        dx[r * s.in + i] += dy * data.w[wi];
        dw[wi] += dy * data.x[r * s.in + i];
      }
    }
  }
  ExpectClose(result.y, y);
  ExpectClose(result.dx, dx);
  ExpectClose(result.dw, dw);
  ExpectClose(result.dbias, dbias);
}

TEST(DenseTest, MatchesPlainSumsForEveryEdgeOfTheBlocks) {
  const DenseShape shapes[] = {{1, 1, 1},   {5, 3, 2},     {6, 16, 16},  {7, 17, 15},
                               {13, 33, 8}, {97, 300, 31}, {101, 6, 65}, {300, 513, 48}};
  ForEachSimd([&](const KernelContext& context) {
    for (DenseShape shape : shapes) {
      for (bool transposed : {false, true}) {
        SCOPED_TRACE("rows " + std::to_string(shape.rows) + (transposed ? ", transposed" : ""));
        shape.transposed = transposed;
        const DenseData data(shape);
        CheckAgainstSums(shape, data, DenseResult(context, shape, data));
      }
    }
  });
}

TEST(DenseTest, ManyRowsAreSummedInPartsThatAddUp) {
  const DenseShape shape{2500, 7, 20};
  const DenseData data(shape);
  ForEachSimd([&](const KernelContext& context) {
    CheckAgainstSums(shape, data, DenseResult(context, shape, data));
  });
}

TEST(DenseTest, TheSameBitsForAnyNumberOfThreads) {
  const DenseShape shape{4224, 32, 48};
  const DenseData data(shape);
  const ParallelFor one = Threads(1), three = Threads(3);
  for (const SimdKernels* simd : AvailableSimdKernels()) {
    EXPECT_EQ(DenseResult({*simd, one}, shape, data), DenseResult({*simd, three}, shape, data)) << simd->name;
  }
}

TEST(DenseTest, NoRowsGiveZeroGradients) {
  const DenseShape shape{0, 5, 7};
  ForEachSimd([&](const KernelContext& context) {
    const DenseResult result(context, shape, DenseData(shape));
    EXPECT_EQ(result.dw, std::vector<float>(35, 0.0f));
    EXPECT_EQ(result.dbias, std::vector<float>(7, 0.0f));
  });
}

}  // namespace
}  // namespace ort_ed
