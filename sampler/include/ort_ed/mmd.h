#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/export.h"

namespace ort_ed {

enum class MmdKernel {
  kHamming,  // exp(-bandwidth * Hamming distance), the distance as a number of bits
  kLinear,   // <x, y>
};

// Throws kInvalidArgument listing the candidates: "hamming", "linear".
ORT_ED_API MmdKernel ParseMmdKernel(const std::string& name);

inline constexpr double kMmdBandwidth = 0.1;

// The squared maximum mean discrepancy between two sets of rows of 0 and 1, as an unbiased U-statistic: 0 in
// expectation for samples of one distribution, so it may be negative. Each set has at least two rows; else
// throws kInvalidArgument.
ORT_ED_API double SquaredMmd(std::span<const uint8_t> a, std::span<const uint8_t> b, int64_t dimension,
                             MmdKernel kernel = MmdKernel::kHamming, double bandwidth = kMmdBandwidth,
                             int threads = 0);

// SquaredMmd() after all rows of both sets were put together and dealt out again at random, `repeats` times:
// how it scatters if both are samples of one distribution.
ORT_ED_API std::vector<double> SquaredMmdOfShuffled(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                                    int64_t dimension, int64_t repeats, uint64_t seed,
                                                    MmdKernel kernel = MmdKernel::kHamming,
                                                    double bandwidth = kMmdBandwidth, int threads = 0);

}  // namespace ort_ed
