// Part of simd_kernels_impl.h: the transforms of Winograd's convolution F(4 x 4, 3 x 3) with the points 0, 1,
// -1, 2, -2 and infinity (Lavin and Gray, arXiv 1509.09308), on vectors of channels.

namespace ort_ed {
namespace {

// out = B' * in.
inline void InputTransform(const Floats in[6], Floats out[6]) {
  const Floats even = in[4] - 4.0f * in[2], odd = in[3] - 4.0f * in[1];
  const Floats even2 = in[4] - in[2], odd2 = 2.0f * (in[3] - in[1]);
  out[0] = 4.0f * in[0] - 5.0f * in[2] + in[4];
  out[1] = even + odd;
  out[2] = even - odd;
  out[3] = even2 + odd2;
  out[4] = even2 - odd2;
  out[5] = 4.0f * in[1] - 5.0f * in[3] + in[5];
}

// out = A' * in.
inline void OutputTransform(const Floats in[6], Floats out[4]) {
  const Floats sum = in[1] + in[2], difference = in[1] - in[2];
  const Floats sum2 = in[3] + in[4], difference2 = in[3] - in[4];
  out[0] = in[0] + sum + sum2;
  out[1] = difference + 2.0f * difference2;
  out[2] = sum + 4.0f * sum2;
  out[3] = difference + 8.0f * difference2 + in[5];
}

// out = A * in.
inline void OutputGradTransform(const Floats in[4], Floats out[6]) {
  const Floats even = in[0] + in[2], odd = in[1] + in[3];
  const Floats even2 = in[0] + 4.0f * in[2], odd2 = 2.0f * (in[1] + 4.0f * in[3]);
  out[0] = in[0];
  out[1] = even + odd;
  out[2] = even - odd;
  out[3] = even2 + odd2;
  out[4] = even2 - odd2;
  out[5] = in[3];
}

// out = G * in.
inline void WeightTransform(const Floats in[3], Floats out[6]) {
  const Floats even = (in[0] + in[2]) * (-1.0f / 6), odd = in[1] * (1.0f / 6);
  const Floats even2 = in[0] * (1.0f / 24) + in[2] * (1.0f / 6), odd2 = in[1] * (1.0f / 12);
  out[0] = in[0] * 0.25f;
  out[1] = even - odd;
  out[2] = even + odd;
  out[3] = even2 + odd2;
  out[4] = even2 - odd2;
  out[5] = in[2];
}

// out = G' * in.
inline void WeightGradTransform(const Floats in[6], Floats out[3]) {
  const Floats even = (in[1] + in[2]) * (1.0f / 6), even2 = in[3] + in[4];
  out[0] = in[0] * 0.25f - even + even2 * (1.0f / 24);
  out[1] = (in[2] - in[1]) * (1.0f / 6) + (in[3] - in[4]) * (1.0f / 12);
  out[2] = even2 * (1.0f / 6) - even + in[5];
}

// T * square * T' for a square of pixels, of which load(i) gives one and store(i, value) takes one.
template <int From, int To, void (*Transform)(const Floats*, Floats*), typename LoadPixel,
          typename StorePixel>
inline void TransformSquare(LoadPixel load, StorePixel store) {
  Floats half[To][From];
  for (int x = 0; x < From; ++x) {
    Floats column[From], transformed[To];
    for (int y = 0; y < From; ++y) column[y] = load(y * From + x);
    Transform(column, transformed);
    for (int y = 0; y < To; ++y) half[y][x] = transformed[y];
  }
  for (int y = 0; y < To; ++y) {
    Floats transformed[To];
    Transform(half[y], transformed);
    for (int x = 0; x < To; ++x) store(y * To + x, transformed[x]);
  }
}

void WinogradInput(size_t channels, const float* const* pixels, float* out, size_t out_stride) {
  ForVectors(channels, [=](size_t c, int n) {
    TransformSquare<6, 6, InputTransform>(
        [=](int i) { return LoadSome(pixels[i] + c, n); },
        [=](int i, Floats v) { StoreSome(out + i * out_stride + c, v, n); });
  });
}

void WinogradOutput(size_t channels, const float* in, size_t in_stride, const float* start,
                    float* const* pixels) {
  ForVectors(channels, [=](size_t c, int n) {
    const Floats first = LoadSome(start + c, n);
    TransformSquare<6, 4, OutputTransform>([=](int i) { return LoadSome(in + i * in_stride + c, n); },
                                           [=](int i, Floats v) { StoreSome(pixels[i] + c, v + first, n); });
  });
}

void WinogradOutputGrad(size_t channels, const float* const* pixels, float* out, size_t out_stride) {
  ForVectors(channels, [=](size_t c, int n) {
    TransformSquare<4, 6, OutputGradTransform>(
        [=](int i) { return LoadSome(pixels[i] + c, n); },
        [=](int i, Floats v) { StoreSome(out + i * out_stride + c, v, n); });
  });
}

void WinogradWeights(size_t channels, const float* const* weights, float* out, size_t out_stride) {
  ForVectors(channels, [=](size_t c, int n) {
    TransformSquare<3, 6, WeightTransform>(
        [=](int i) { return LoadSome(weights[i] + c, n); },
        [=](int i, Floats v) { StoreSome(out + i * out_stride + c, v, n); });
  });
}

void WinogradWeightsGrad(size_t channels, const float* const* products, float* out, size_t out_stride) {
  ForVectors(channels, [=](size_t c, int n) {
    TransformSquare<6, 3, WeightGradTransform>(
        [=](int i) { return LoadSome(products[i] + c, n); },
        [=](int i, Floats v) { StoreSome(out + i * out_stride + c, v, n); });
  });
}

}  // namespace
}  // namespace ort_ed
