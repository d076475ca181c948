// Part of simd_kernels_impl.h: convolutions of every channel by itself.
namespace ort_ed {
namespace {

// N vectors of channels from c.
template <int R, int N>
inline void DepthwiseVectors(size_t c, size_t taps, const ptrdiff_t* in_offsets, const size_t* weight_offsets,
                             const float* in, size_t in_step, const float* weights, const float* start,
                             float* out, size_t out_step) {
  Floats sum[R][N];
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) sum[r][n] = Load(start + c + n * kLanes);
  for (size_t t = 0; t < taps; ++t) {
    const float* from = in + in_offsets[t] + c;
    Floats w[N];
    for (int n = 0; n < N; ++n) w[n] = Load(weights + weight_offsets[t] + c + n * kLanes);
    for (int r = 0; r < R; ++r, from += in_step)
      for (int n = 0; n < N; ++n) sum[r][n] += Load(from + n * kLanes) * w[n];
  }
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) Store(out + r * out_step + c + n * kLanes, sum[r][n]);
}

template <int R>
void Depthwise(size_t channels, size_t taps, const ptrdiff_t* in_offsets, const size_t* weight_offsets,
               const float* in, size_t in_step, const float* weights, const float* start, float* out,
               size_t out_step) {
  constexpr int kVectors = R < 3 ? 4 : 2;  // enough sums that do not wait for one another
  size_t c = 0;
  for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes)
    DepthwiseVectors<R, kVectors>(c, taps, in_offsets, weight_offsets, in, in_step, weights, start, out,
                                  out_step);
  for (; c + kLanes <= channels; c += kLanes)
    DepthwiseVectors<R, 1>(c, taps, in_offsets, weight_offsets, in, in_step, weights, start, out, out_step);
  if (c == channels) return;
  const int rest = static_cast<int>(channels - c);
  for (int r = 0; r < R; ++r) {
    Floats sum = LoadSome(start + c, rest);
    for (size_t t = 0; t < taps; ++t)
      sum += LoadSome(in + in_offsets[t] + r * in_step + c, rest) *
             LoadSome(weights + weight_offsets[t] + c, rest);
    StoreSome(out + r * out_step + c, sum, rest);
  }
}

template <int N>
inline void AddProductsOfVectors(size_t count, const float* a, size_t a_step, const float* b, size_t b_step,
                                 float* sums) {
  Floats sum[N];
  for (int n = 0; n < N; ++n) sum[n] = Load(sums + n * kLanes);
  for (size_t i = 0; i < count; ++i, a += a_step, b += b_step)
    for (int n = 0; n < N; ++n) sum[n] += Load(a + n * kLanes) * Load(b + n * kLanes);
  for (int n = 0; n < N; ++n) Store(sums + n * kLanes, sum[n]);
}

void AddProducts(size_t channels, size_t count, const float* a, size_t a_step, const float* b, size_t b_step,
                 float* sums) {
  constexpr int kVectors = 4;
  size_t c = 0;
  for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes)
    AddProductsOfVectors<kVectors>(count, a + c, a_step, b + c, b_step, sums + c);
  for (; c + kLanes <= channels; c += kLanes)
    AddProductsOfVectors<1>(count, a + c, a_step, b + c, b_step, sums + c);
  if (c == channels) return;
  const int rest = static_cast<int>(channels - c);
  Floats sum = LoadSome(sums + c, rest);
  for (size_t i = 0; i < count; ++i)
    sum += LoadSome(a + i * a_step + c, rest) * LoadSome(b + i * b_step + c, rest);
  StoreSome(sums + c, sum, rest);
}

}  // namespace
}  // namespace ort_ed
