#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

inline std::vector<float> RandomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

inline TaskRunner Threads(int threads) {
  return [threads](size_t count, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i; (i = next++) < count;) task(i);
    };
    std::vector<std::thread> helpers;
    for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  };
}

// Calls test(context) for every instruction set of this processor.
inline void ForEachSimd(const std::function<void(const KernelContext&)>& test) {
  const TaskRunner one_thread = Threads(1);
  for (const SimdKernels* simd : AvailableSimdKernels()) {
    SCOPED_TRACE(simd->name);
    test({*simd, one_thread});
  }
}

// |value - expected| <= tolerance * scale for all, where scale is the largest expected value: what rounding
// of sums in single precision is measured against.
inline void ExpectClose(const std::vector<float>& values, const std::vector<double>& expected,
                        double tolerance = 1e-5) {
  ASSERT_EQ(values.size(), expected.size());
  double scale = 1;
  for (double e : expected) scale = std::max(scale, std::abs(e));
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance * scale) << "element " << i << " of " << values.size();
  }
}

}  // namespace ort_ed
