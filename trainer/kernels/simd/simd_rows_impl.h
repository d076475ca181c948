// Part of simd_kernels_impl.h: what goes along rows (normalisations, softmax), and Gelu.
namespace ort_ed {
namespace {

// The sum of f(first, elements) over a row, of vectors that have zeros behind the last element.
template <typename F>
inline float SumAlong(size_t columns, F f) {
  Floats sums[2] = {};
  size_t i = 0;
  for (; i + 2 * kLanes <= columns; i += 2 * kLanes) {
    sums[0] += f(i, kLanes);
    sums[1] += f(i + kLanes, kLanes);
  }
  ForVectors(columns - i, [&](size_t j, int n) { sums[0] += f(i + j, n); });
  const Floats both = sums[0] + sums[1];
  float total = 0;
  for (int k = 0; k < kLanes; ++k) total += both[k];
  return total;
}

struct RowMoments {
  float mean, inverse_deviation;
};

inline RowMoments MomentsOf(size_t columns, float epsilon, const float* x) {
  const float mean = SumAlong(columns, [=](size_t i, int n) { return LoadSome(x + i, n); }) / columns;
  const float squares = SumAlong(columns, [=](size_t i, int n) {
    const Floats d = LoadSome(x + i, n, mean) - mean;
    return d * d;
  });
  return {mean, 1 / __builtin_sqrtf(squares / columns + epsilon)};
}

void NormalizeRows(size_t rows, size_t columns, float epsilon, const float* x, const float* scale,
                   const float* bias, float* y) {
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const auto [mean, inverse] = MomentsOf(columns, epsilon, x);
    ForVectors(columns, [=](size_t i, int n) {
      const Floats value = (LoadSome(x + i, n) - mean) * inverse * LoadSome(scale + i, n);
      StoreSome(y + i, bias ? value + LoadSome(bias + i, n) : value, n);
    });
  }
}

void NormalizeRowsGrad(size_t rows, size_t columns, float epsilon, const float* x, const float* scale,
                       const float* dy, float* dx, float* dscale, float* dbias) {
  for (size_t r = 0; r < rows; ++r, x += columns, dy += columns, dx += columns) {
    const auto [mean, inverse] = MomentsOf(columns, epsilon, x);
    const auto normal = [=](size_t i, int n) { return (LoadSome(x + i, n) - mean) * inverse; };
    const auto slope = [=](size_t i, int n) { return LoadSome(dy + i, n) * LoadSome(scale + i, n); };
    const float average = SumAlong(columns, slope) / columns;
    const float along =
        SumAlong(columns, [=](size_t i, int n) { return slope(i, n) * normal(i, n); }) / columns;
    ForVectors(columns, [=](size_t i, int n) {
      const Floats value = normal(i, n), d = LoadSome(dy + i, n);
      StoreSome(dx + i, inverse * (d * LoadSome(scale + i, n) - average - value * along), n);
      StoreSome(dscale + i, LoadSome(dscale + i, n) + d * value, n);
      StoreSome(dbias + i, LoadSome(dbias + i, n) + d, n);
    });
  }
}

// sums[c] += the sum over rows of (a[r][c] - a_centre[c]) * (b[r][c] - b_centre[c]); a centre of null is 0.
void AddCentredProducts(size_t rows, size_t columns, const float* a, const float* a_centre, const float* b,
                        const float* b_centre, float* sums) {
  ForVectors(columns, [=](size_t c, int n) {
    Floats sum = LoadSome(sums + c, n);
    const Floats a_middle = a_centre ? LoadSome(a_centre + c, n) : Floats{};
    const Floats b_middle = b_centre ? LoadSome(b_centre + c, n) : Floats{};
    for (size_t r = 0; r < rows; ++r)
      sum += (LoadSome(a + r * columns + c, n) - a_middle) * (LoadSome(b + r * columns + c, n) - b_middle);
    StoreSome(sums + c, sum, n);
  });
}

// out[r][c] = a[r][c] * a_factor[c] + b[r][c] * b_factor[c] + start[c]; without b if it is null.
void CombineRows(size_t rows, size_t columns, const float* a, const float* a_factor, const float* b,
                 const float* b_factor, const float* start, float* out) {
  ForVectors(columns, [=](size_t c, int n) {
    const Floats first = LoadSome(a_factor + c, n), constant = LoadSome(start + c, n);
    const Floats second = b ? LoadSome(b_factor + c, n) : Floats{};
    for (size_t r = 0; r < rows; ++r) {
      Floats value = LoadSome(a + r * columns + c, n) * first + constant;
      if (b) value += LoadSome(b + r * columns + c, n) * second;
      StoreSome(out + r * columns + c, value, n);
    }
  });
}

inline Floats Select(Ints mask, Floats yes, Floats no) { return mask ? yes : no; }

// In place.
void SoftmaxRows(size_t rows, size_t columns, float* x) {
  for (size_t r = 0; r < rows; ++r, x += columns) {
    float largest = x[0];
    for (size_t i = 1; i < columns; ++i) largest = x[i] > largest ? x[i] : largest;
    ForVectors(columns,
               [=](size_t i, int n) { StoreSome(x + i, Exp(LoadSome(x + i, n, largest) - largest), n); });
    const float factor = 1 / SumAlong(columns, [=](size_t i, int n) { return LoadSome(x + i, n); });
    ForVectors(columns, [=](size_t i, int n) { StoreSome(x + i, LoadSome(x + i, n) * factor, n); });
  }
}

// Of p = softmax(x), given dp; in the place of dp.
void SoftmaxRowsGrad(size_t rows, size_t columns, const float* p, float* dp) {
  for (size_t r = 0; r < rows; ++r, p += columns, dp += columns) {
    const float along =
        SumAlong(columns, [=](size_t i, int n) { return LoadSome(p + i, n) * LoadSome(dp + i, n); });
    ForVectors(columns, [=](size_t i, int n) {
      StoreSome(dp + i, LoadSome(p + i, n) * (LoadSome(dp + i, n) - along), n);
    });
  }
}

// (1 + erf(x / sqrt(2))) / 2: of erf's two polynomials, one is good up to 0.92, the other above.
inline Floats NormalShare(Floats x) {
  const Floats z = x * 0.70710678118654752f;
  const Floats a = z < 0.0f ? -z : z;
  const Floats s = a * a;
  Floats small = -5.99104969e-4f * s + 4.99339588e-3f;
  small = small * s - 2.67667342e-2f;
  small = small * s + 1.12818025e-1f;
  small = small * s - 3.76124859e-1f;
  small = small * s + 1.28379151e-1f;
  small = small * a + a;
  const Floats b = Clamped(a, 3.925f);
  Floats big = 1.72948930e-5f * b - 3.83208680e-4f;
  big = big * b + 3.88393435e-3f;
  big = big * b - 2.42545605e-2f;
  big = big * b + 1.06777847e-1f;
  big = big * b + 6.34846687e-1f;
  big = big * b + 1.28717512e-1f;
  big = big * b + b;
  const Floats erf = Select(a > 0.921875f, 1.0f - Exp(-big), small);
  return 0.5f + 0.5f * Select(z < 0.0f, -erf, erf);
}

void Gelu(size_t count, const float* x, float* y) {
  ForVectors(count, [=](size_t i, int n) {
    const Floats v = LoadSome(x + i, n);
    StoreSome(y + i, v * NormalShare(v), n);
  });
}

void GeluGrad(size_t count, const float* x, const float* dy, float* dx) {
  ForVectors(count, [=](size_t i, int n) {
    const Floats v = LoadSome(x + i, n);
    const Floats density = 0.39894228040143268f * Exp(-0.5f * v * v);
    StoreSome(dx + i, LoadSome(dy + i, n) * (NormalShare(v) + v * density), n);
  });
}

void ReluGrad(size_t count, const float* y, const float* dy, float* dx) {
  ForVectors(count, [=](size_t i, int n) {
    StoreSome(dx + i, Select(LoadSome(y + i, n) > 0.0f, LoadSome(dy + i, n), Floats{}), n);
  });
}

// The largest of the taps' values for each channel.
void MaxOfTaps(size_t channels, size_t taps, const ptrdiff_t* offsets, const float* in, float* out) {
  ForVectors(channels, [=](size_t c, int n) {
    Floats largest = LoadSome(in + offsets[0] + c, n);
    for (size_t t = 1; t < taps; ++t) {
      const Floats value = LoadSome(in + offsets[t] + c, n);
      largest = Select(value > largest, value, largest);
    }
    StoreSome(out + c, largest, n);
  });
}

// din at the first tap that has the largest value += dout.
void MaxOfTapsGrad(size_t channels, size_t taps, const ptrdiff_t* offsets, const float* in, const float* dout,
                   float* din) {
  ForVectors(channels, [=](size_t c, int n) {
    Floats largest = LoadSome(in + offsets[0] + c, n);
    for (size_t t = 1; t < taps; ++t) {
      const Floats value = LoadSome(in + offsets[t] + c, n);
      largest = Select(value > largest, value, largest);
    }
    Floats left = LoadSome(dout + c, n);
    for (size_t t = 0; t < taps; ++t) {
      float* const to = din + offsets[t] + c;
      const Ints here = LoadSome(in + offsets[t] + c, n) == largest;
      StoreSome(to, LoadSome(to, n) + Select(here, left, Floats{}), n);
      left = Select(here, Floats{}, left);
    }
  });
}

}  // namespace
}  // namespace ort_ed
