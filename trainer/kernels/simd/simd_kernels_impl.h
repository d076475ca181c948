// Compiled once for each instruction set: the including file is built with that set's flags and defines
// ORT_ED_SIMD_LANES (floats in a vector). Nothing here may have external linkage, and no other
// header may be included: the linker would be free to take one instruction set's copy of an inline function
// for all.
#include <cstddef>
#include <cstdint>

#include "trainer/kernels/simd/simd_kernels.h"

namespace ort_ed {
namespace {

constexpr int kLanes = ORT_ED_SIMD_LANES;
constexpr int kPanel = 2 * kLanes;

using Floats = float __attribute__((vector_size(4 * kLanes)));
using Ints = int32_t __attribute__((vector_size(4 * kLanes)));
using UnalignedFloats = float __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

inline Floats Load(const float* p) { return *reinterpret_cast<const UnalignedFloats*>(p); }
inline void Store(float* p, Floats v) { *reinterpret_cast<UnalignedFloats*>(p) = v; }
inline Floats All(float value) { return value - Floats{}; }

// A vector of half the size, for panels that are no wider.
using HalfFloats = float __attribute__((vector_size(2 * kLanes)));

using UnalignedHalfFloats = float __attribute__((vector_size(2 * kLanes), aligned(4), may_alias));

template <typename V>
struct InMemory {
  using Type = UnalignedFloats;
};
template <>
struct InMemory<HalfFloats> {
  using Type = UnalignedHalfFloats;
};
template <typename V>
inline V LoadAs(const float* p) {
  return *reinterpret_cast<const typename InMemory<V>::Type*>(p);
}
template <typename V>
inline void StoreAs(float* p, V v) {
  *reinterpret_cast<typename InMemory<V>::Type*>(p) = v;
}

// Tiles of N vectors a row.
template <typename V, int N, int R>
void RowsTimesPanel(size_t taps, size_t depth, const float* const* rows, size_t offset, const float* weights,
                    size_t weight_stride, const float* start, float* const* out) {
  constexpr int kSize = sizeof(V) / sizeof(float), kWidth = N * kSize;
  V sum[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) sum[r][n] = LoadAs<V>((start ? start : out[r]) + n * kSize);
    __builtin_prefetch(out[r], 1);  // here by the time the tile is done
  }
  for (size_t t = 0; t < taps; ++t) {
    const float* row[R];
    for (int r = 0; r < R; ++r) row[r] = rows[t * SimdKernels::kRows + r] + offset;
    const float* w = weights + t * weight_stride * kWidth;
    for (size_t d = 0; d < depth; ++d, w += kWidth) {
      V weight[N];
      for (int n = 0; n < N; ++n) weight[n] = LoadAs<V>(w + n * kSize);
      for (int r = 0; r < R; ++r) {
        const V a = row[r][d] - V{};
        for (int n = 0; n < N; ++n) sum[r][n] += a * weight[n];
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) StoreAs<V>(out[r] + n * kSize, sum[r][n]);
  }
}

// The sums so far are added at the end, when they have arrived in cache.
template <typename V, int N, int R>
void OuterProducts(size_t count, const float* left, const float* const* right, size_t offset, float* out,
                   size_t out_stride, bool add) {
  constexpr int kSize = sizeof(V) / sizeof(float);
  V sum[R][N];
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) sum[r][n] = V{};
    __builtin_prefetch(out + r * out_stride, 1);
  }
  for (size_t k = 0; k < count; ++k, left += SimdKernels::kRows) {
    const float* row = right[k] + offset;
    V values[N];
    for (int n = 0; n < N; ++n) values[n] = LoadAs<V>(row + n * kSize);
    for (int r = 0; r < R; ++r) {
      const V a = left[r] - V{};
      for (int n = 0; n < N; ++n) sum[r][n] += a * values[n];
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int n = 0; n < N; ++n) {
      float* const to = out + r * out_stride + n * kSize;
      StoreAs<V>(to, add ? LoadAs<V>(to) + sum[r][n] : sum[r][n]);
    }
  }
}

template <typename V, int N>
constexpr SimdKernels::Tile MakeTile() {
  return {N * sizeof(V) / sizeof(float),
          {RowsTimesPanel<V, N, 1>, RowsTimesPanel<V, N, 2>, RowsTimesPanel<V, N, 3>, RowsTimesPanel<V, N, 4>,
           RowsTimesPanel<V, N, 5>, RowsTimesPanel<V, N, 6>},
          {OuterProducts<V, N, 1>, OuterProducts<V, N, 2>, OuterProducts<V, N, 3>, OuterProducts<V, N, 4>,
           OuterProducts<V, N, 5>, OuterProducts<V, N, 6>}};
}

// Larger ones would not fit the registers better.
constexpr int kSquare = kLanes < 8 ? kLanes : 8;
using Line = float __attribute__((vector_size(4 * kSquare)));
using UnalignedLine = float __attribute__((vector_size(4 * kSquare), aligned(4), may_alias));

// A square of kSquare x kSquare.
inline void TransposeSquare(const float* in, size_t in_stride, float* out, size_t out_stride) {
  Line a[kSquare], b[kSquare];
  for (int i = 0; i < kSquare; ++i) a[i] = *reinterpret_cast<const UnalignedLine*>(in + i * in_stride);
#if ORT_ED_SIMD_LANES >= 8
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    a[i + 1] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    a[i + 2] = __builtin_shufflevector(b[i + 1], b[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    a[i + 3] = __builtin_shufflevector(b[i + 1], b[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else
  static_assert(kSquare == 4);
  const Line c0 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
  const Line c1 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
  const Line c2 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
  const Line c3 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
  b[0] = __builtin_shufflevector(c0, c2, 0, 1, 4, 5);
  b[1] = __builtin_shufflevector(c0, c2, 2, 3, 6, 7);
  b[2] = __builtin_shufflevector(c1, c3, 0, 1, 4, 5);
  b[3] = __builtin_shufflevector(c1, c3, 2, 3, 6, 7);
#endif
  for (int i = 0; i < kSquare; ++i) *reinterpret_cast<UnalignedLine*>(out + i * out_stride) = b[i];
}

// Squares that overlap the one before cover the rest, so only a matrix narrower than a square goes by
// elements.
void Transpose(size_t rows, size_t columns, const float* in, size_t in_stride, float* out,
               size_t out_stride) {
  if (rows < kSquare || columns < kSquare) {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) out[c * out_stride + r] = in[r * in_stride + c];
    }
    return;
  }
  for (size_t r = 0; r < rows; r += kSquare) {
    const size_t row = r + kSquare <= rows ? r : rows - kSquare;
    for (size_t c = 0; c < columns; c += kSquare) {
      const size_t column = c + kSquare <= columns ? c : columns - kSquare;
      TransposeSquare(in + row * in_stride + column, in_stride, out + column * out_stride + row, out_stride);
    }
  }
}

// Vectors that go through a long chain of operations side by side: one after the other, each would wait for
// its own last result.
template <typename T>
struct Two {
  T a, b;
};
template <typename T>
inline Two<T> operator+(Two<T> x, Two<T> y) {
  return {x.a + y.a, x.b + y.b};
}
template <typename T>
inline Two<T> operator-(Two<T> x, Two<T> y) {
  return {x.a - y.a, x.b - y.b};
}
template <typename T>
inline Two<T> operator*(Two<T> x, Two<T> y) {
  return {x.a * y.a, x.b * y.b};
}
template <typename T>
inline Two<T> operator/(Two<T> x, Two<T> y) {
  return {x.a / y.a, x.b / y.b};
}

// To [-limit, limit]; NaN stays.
inline Floats Clamped(Floats x, float limit) {
#if ORT_ED_SIMD_LANES == 8
  return __builtin_ia32_minps256(All(limit), __builtin_ia32_maxps256(All(-limit), x));
#elif ORT_ED_SIMD_LANES == 16
  constexpr uint16_t kAll = 0xffff;
  constexpr int kCurrentRounding = 4;
  const Floats above = __builtin_ia32_maxps512_mask(All(-limit), x, x, kAll, kCurrentRounding);
  return __builtin_ia32_minps512_mask(All(limit), above, above, kAll, kCurrentRounding);
#else
  x = x < -limit ? All(-limit) : x;
  return x > limit ? All(limit) : x;
#endif
}
// x * 2^n, where n is in the lowest bits.
inline Floats TimesPower(Floats x, Floats n) {
  return reinterpret_cast<Floats>(reinterpret_cast<Ints>(x) + (reinterpret_cast<Ints>(n) << 23));
}
template <typename T>
inline Two<T> Clamped(Two<T> x, float limit) {
  return {Clamped(x.a, limit), Clamped(x.b, limit)};
}
template <typename T>
inline Two<T> TimesPower(Two<T> x, Two<T> n) {
  return {TimesPower(x.a, n.a), TimesPower(x.b, n.b)};
}

using Several = Two<Two<Floats>>;
constexpr size_t kGroup = sizeof(Several) / sizeof(float);

template <typename T>
struct Filled {
  static T With(float x) { return {Filled<decltype(T::a)>::With(x), Filled<decltype(T::b)>::With(x)}; }
};
template <>
struct Filled<Floats> {
  static Floats With(float x) { return All(x); }
};
inline Several Same(float x) { return Filled<Several>::With(x); }
inline Several LoadSeveral(const float* p) {
  return {{Load(p), Load(p + kLanes)}, {Load(p + 2 * kLanes), Load(p + 3 * kLanes)}};
}
inline void StoreSeveral(float* p, const Several& x) {
  Store(p, x.a.a);
  Store(p + kLanes, x.a.b);
  Store(p + 2 * kLanes, x.b.a);
  Store(p + 3 * kLanes, x.b.b);
}

// exp(x) = 2^n * exp(r) with |r| <= ln(2) / 2; the polynomial has the smallest relative error there (2e-9).
template <typename T>
inline T Exp(T x) {
  constexpr auto same = Filled<T>::With;
  const T round_to_integer = same(12582912.0f);  // 1.5 * 2^23: n lands in the lowest bits
  x = Clamped(x, 87.0f);
  const T shifted = x * same(1.44269504088896341f) + round_to_integer;
  const T n = shifted - round_to_integer;
  const T r = (x - n * same(0.693359375f)) - n * same(-2.12194440e-4f);
  T p = r * same(1.3836835278e-3f) + same(8.3748241886e-3f);
  p = p * r + same(4.1668225080e-2f);
  p = p * r + same(1.6666419804e-1f);
  p = p * r + same(4.9999991059e-1f);
  p = p * r + same(1);
  p = p * r + same(1);
  return TimesPower(p, shifted);
}

// 1 / (1 + exp(x))
inline Several SigmoidOfMinus(Several x) { return Same(1) / (Same(1) + Exp(x)); }

inline Floats LoadSome(const float* p, int n, float rest = 0) {
  if (n == kLanes) return Load(p);
#if ORT_ED_SIMD_LANES == 16
  return __builtin_ia32_loadups512_mask(p, All(rest), static_cast<uint16_t>((1 << n) - 1));
#else
  Floats v = All(rest);
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}

inline void StoreSome(float* p, Floats v, int n) {
  if (n == kLanes) return Store(p, v);
#if ORT_ED_SIMD_LANES == 16
  __builtin_ia32_storeups512_mask(p, v, static_cast<uint16_t>((1 << n) - 1));
#else
  for (int i = 0; i < n; ++i) p[i] = v[i];
#endif
}

// Applies f(first, elements) to whole vectors and to the rest.
template <typename F>
inline void ForVectors(size_t count, F f) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) f(i, static_cast<int>(count - i));
}

inline void CopySome(size_t count, const float* from, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

inline void SwishGroup(float beta, const float* x, float* out, float* sigmoid) {
  const Several v = LoadSeveral(x), s = SigmoidOfMinus(v * Same(-beta));
  StoreSeveral(out, v * s);
  if (sigmoid) StoreSeveral(sigmoid, s);
}

void Swish(size_t count, float beta, const float* x, float* out, float* sigmoid) {
  size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) SwishGroup(beta, x + i, out + i, sigmoid ? sigmoid + i : nullptr);
  if (i == count) return;
  float rest[kGroup] = {}, rest_sigmoid[kGroup];
  CopySome(count - i, x + i, rest);
  SwishGroup(beta, rest, rest, rest_sigmoid);
  CopySome(count - i, rest, out + i);
  if (sigmoid) CopySome(count - i, rest_sigmoid, sigmoid + i);
}

inline double Total(Floats sums) {
  double total = 0;
  for (int i = 0; i < kLanes; ++i) total += sums[i];
  return total;
}

inline void SwishGradGroup(float beta, const float* x, const float* dout, float* dx, Several& sum) {
  const Several v = LoadSeveral(x), s = SigmoidOfMinus(v * Same(-beta)), d = LoadSeveral(dout);
  const Several slope = v * s * (Same(1) - s);
  StoreSeveral(dx, d * (s + slope * Same(beta)));
  sum = sum + d * (v * slope);
}

double SwishGrad(size_t count, float beta, const float* x, const float* dout, float* dx) {
  Several sum = Same(0);
  size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) SwishGradGroup(beta, x + i, dout + i, dx + i, sum);
  if (i < count) {
    float rest[kGroup] = {}, rest_dout[kGroup] = {};
    CopySome(count - i, x + i, rest);
    CopySome(count - i, dout + i, rest_dout);
    SwishGradGroup(beta, rest, rest_dout, rest, sum);
    CopySome(count - i, rest, dx + i);
  }
  return Total(sum.a.a + sum.a.b + (sum.b.a + sum.b.b));
}

// x = out / sigmoid: Exp() is bounded, so the sigmoid is never 0.
double SwishGradOfResult(size_t count, float beta, const float* out, const float* sigmoid, const float* dout,
                         float* dx) {
  Floats sum{};
  ForVectors(count, [=, &sum](size_t i, int n) {
    const Floats y = LoadSome(out + i, n), d = LoadSome(dout + i, n);
    const Floats s = LoadSome(sigmoid + i, n, 1);
    const Floats slope = y * (1.0f - s);
    StoreSome(dx + i, d * (s + slope * beta), n);
    sum += d * (slope * (y / s));
  });
  return Total(sum);
}

// sums[0, columns) += each row; several vectors of a row at a time, so that whole cache lines are used.
void AddRows(size_t rows, size_t columns, const float* in, size_t stride, float* sums) {
  constexpr size_t kVectors = 8, kColumns = kVectors * kLanes;
  size_t c = 0;
  for (; c + kColumns <= columns; c += kColumns) {
    Floats sum[kVectors];
    for (size_t v = 0; v < kVectors; ++v) sum[v] = Load(sums + c + v * kLanes);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) sum[v] += Load(in + r * stride + c + v * kLanes);
    }
    for (size_t v = 0; v < kVectors; ++v) Store(sums + c + v * kLanes, sum[v]);
  }
  ForVectors(columns - c, [=](size_t i, int n) {
    Floats sum = LoadSome(sums + c + i, n);
    for (size_t r = 0; r < rows; ++r) sum += LoadSome(in + r * stride + c + i, n);
    StoreSome(sums + c + i, sum, n);
  });
}

void DotRows(size_t rows, size_t columns, const float* in, const float* w, float start, float* out) {
  constexpr size_t kVectors = 4, kColumns = kVectors * kLanes;
  for (size_t r = 0; r < rows; ++r, in += columns) {
    Floats sum[kVectors];
    for (size_t v = 0; v < kVectors; ++v) sum[v] = Floats{};
    size_t c = 0;
    for (; c + kColumns <= columns; c += kColumns) {
      for (size_t v = 0; v < kVectors; ++v) sum[v] += Load(in + c + v * kLanes) * Load(w + c + v * kLanes);
    }
    ForVectors(columns - c,
               [&](size_t i, int n) { sum[0] += LoadSome(in + c + i, n) * LoadSome(w + c + i, n); });
    const Floats all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    float total = start;
    for (int i = 0; i < kLanes; ++i) total += all[i];
    out[r] = total;
  }
}

// Some rows at a time, so that w and dw are loaded less often.
template <size_t kRowsAtOnce>
inline void DotRowsGradOfSome(size_t columns, const float* in, const float* w, const float* dout, float* din,
                              float* dw) {
  ForVectors(columns, [=](size_t c, int n) {
    const Floats weights = LoadSome(w + c, n);
    Floats sum = dw ? LoadSome(dw + c, n) : Floats{};
    for (size_t r = 0; r < kRowsAtOnce; ++r) {
      if (din) StoreSome(din + r * columns + c, weights * dout[r], n);
      if (dw) sum += LoadSome(in + r * columns + c, n) * dout[r];
    }
    if (dw) StoreSome(dw + c, sum, n);
  });
}

void DotRowsGrad(size_t rows, size_t columns, const float* in, const float* w, const float* dout, float* din,
                 float* dw) {
  constexpr size_t kRowsAtOnce = 4;
  size_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) {
    DotRowsGradOfSome<kRowsAtOnce>(columns, in + r * columns, w, dout + r, din ? din + r * columns : nullptr,
                                   dw);
  }
  for (; r < rows; ++r) {
    DotRowsGradOfSome<1>(columns, in + r * columns, w, dout + r, din ? din + r * columns : nullptr, dw);
  }
}

template <typename F>
inline void ForElements(size_t count, const float* a, const float* b, float* out, F f) {
  ForVectors(count,
             [=](size_t i, int n) { StoreSome(out + i, f(LoadSome(a + i, n), LoadSome(b + i, n)), n); });
}
void Add(size_t count, const float* a, const float* b, float* out) {
  ForElements(count, a, b, out, [](Floats x, Floats y) { return x + y; });
}
void Sub(size_t count, const float* a, const float* b, float* out) {
  ForElements(count, a, b, out, [](Floats x, Floats y) { return x - y; });
}
void Mul(size_t count, const float* a, const float* b, float* out) {
  ForElements(count, a, b, out, [](Floats x, Floats y) { return x * y; });
}
void Div(size_t count, const float* a, const float* b, float* out) {
  ForElements(count, a, b, out, [](Floats x, Floats y) { return x / y; });
}
void Sqrt(size_t count, const float* a, const float*, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = __builtin_sqrtf(a[i]);
}
void Sign(size_t count, const float* a, const float*, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>((a[i] > 0) - (a[i] < 0));
}
void Abs(size_t count, const float* a, const float*, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = __builtin_fabsf(a[i]);
}
void Relu(size_t count, const float* a, const float*, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = a[i] < 0 ? 0 : a[i];
}

}  // namespace
}  // namespace ort_ed

#include "trainer/kernels/simd/simd_depthwise_impl.h"
#include "trainer/kernels/simd/simd_rows_impl.h"
#include "trainer/kernels/simd/simd_winograd_impl.h"

namespace ort_ed {
namespace {

constexpr SimdKernels MakeSimdKernels(const char* name) {
  return {name,
          kPanel,
          {MakeTile<HalfFloats, 1>(), MakeTile<Floats, 1>(), MakeTile<Floats, 2>()},
          Transpose,
          AddRows,
          DotRows,
          DotRowsGrad,
          Swish,
          SwishGrad,
          SwishGradOfResult,
          {Add, Sub, Mul, Div, Sqrt, Sign, Abs, Relu},
          {Depthwise<1>, Depthwise<2>, Depthwise<3>, Depthwise<4>, Depthwise<5>, Depthwise<6>},
          AddProducts,
          MaxOfTaps,
          MaxOfTapsGrad,
          NormalizeRows,
          NormalizeRowsGrad,
          AddCentredProducts,
          CombineRows,
          SoftmaxRows,
          SoftmaxRowsGrad,
          Gelu,
          GeluGrad,
          ReluGrad,
          WinogradInput,
          WinogradOutput,
          WinogradOutputGrad,
          WinogradWeights,
          WinogradWeightsGrad};
}

}  // namespace
}  // namespace ort_ed
