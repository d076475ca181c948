#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/export.h"
#include "ort_ed/variables.h"

namespace ort_ed {

enum class MmdKernel {
  kHamming,  // exp(-bandwidth * Hamming distance), the distance as a number of variables
  kLinear,   // <x, y> over the bits
};

// Throws kInvalidArgument listing the candidates: "hamming", "linear".
ORT_ED_API MmdKernel ParseMmdKernel(const std::string& name);

inline constexpr double kMmdBandwidth = 0.1;

// The squared maximum mean discrepancy between two sets of rows of 0 and 1 over these variables, as an
// unbiased U-statistic: 0 in expectation for samples of one distribution, so it may be negative. Each set has
// at least two rows; else throws kInvalidArgument.
ORT_ED_API double SquaredMmd(std::span<const uint8_t> a, std::span<const uint8_t> b,
                             const Variables& variables, MmdKernel kernel = MmdKernel::kHamming,
                             double bandwidth = kMmdBandwidth, int threads = 0);
// Of binary variables.
inline double SquaredMmd(std::span<const uint8_t> a, std::span<const uint8_t> b, int64_t dimension,
                         MmdKernel kernel = MmdKernel::kHamming, double bandwidth = kMmdBandwidth,
                         int threads = 0) {
  return SquaredMmd(a, b, Variables::Binary(dimension), kernel, bandwidth, threads);
}

// SquaredMmd() after all rows of both sets were put together and dealt out again at random, `repeats` times:
// how it scatters if both are samples of one distribution.
ORT_ED_API std::vector<double> SquaredMmdOfShuffled(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                                    const Variables& variables, int64_t repeats,
                                                    uint64_t seed, MmdKernel kernel = MmdKernel::kHamming,
                                                    double bandwidth = kMmdBandwidth, int threads = 0);
inline std::vector<double> SquaredMmdOfShuffled(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                                int64_t dimension, int64_t repeats, uint64_t seed,
                                                MmdKernel kernel = MmdKernel::kHamming,
                                                double bandwidth = kMmdBandwidth, int threads = 0) {
  return SquaredMmdOfShuffled(a, b, Variables::Binary(dimension), repeats, seed, kernel, bandwidth, threads);
}

}  // namespace ort_ed
