#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace ort_ed {

// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): the value is a pure function of key and
// counter, so a result does not depend on the number of threads or on where a run was interrupted.
using PhiloxBlock = std::array<uint32_t, 4>;

constexpr PhiloxBlock Philox(uint64_t key, PhiloxBlock counter) {
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return counter;
}

// A stream of random numbers for one (seed, purpose, step, row). Streams that differ in any of the four are
// independent. `purpose` separates uses within one program: every use declares its own constant. Satisfies
// UniformRandomBitGenerator, but prefer the members: unlike <random>'s distributions they give the same
// values with every standard library.
class RandomStream {
 public:
  using result_type = uint32_t;

  // `step` below 2^48 and `row` below 2^32 give distinct streams of 2^34 numbers each.
  RandomStream(uint64_t seed, uint32_t purpose, uint64_t step, uint64_t row)
      : key_(Key(seed, purpose)),
        counter_{0, static_cast<uint32_t>(step), static_cast<uint32_t>(row),
                 static_cast<uint32_t>(step >> 32)} {}

  // The Philox key of these streams, for code that computes many of them at once.
  static constexpr uint64_t Key(uint64_t seed, uint32_t purpose) {
    return seed ^ (uint64_t{purpose} * 0x9E3779B97F4A7C15ULL);
  }

  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return 0xFFFFFFFFu; }

  uint32_t operator()() { return Next32(); }

  uint32_t Next32() {
    if (used_ == 4) {
      block_ = Philox(key_, counter_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

  uint64_t Next64() {
    const uint64_t high = Next32();
    return high << 32 | Next32();
  }

  // Uniform on [0, 1), 24 bits: every value is exact in float.
  float Uniform() { return static_cast<float>(Next32() >> 8) * 0x1.0p-24f; }

  // Uniform on [0, 1), 53 bits.
  double UniformDouble() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }

  // Uniform on {0, ..., n - 1}, without bias (Lemire 2019).
  uint32_t Below(uint32_t n) {
    uint64_t product = uint64_t{Next32()} * n;
    if (static_cast<uint32_t>(product) < n) {
      const uint32_t threshold = (0u - n) % n;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{Next32()} * n;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Standard normal (Box and Muller 1958; the second value is not kept, so that the stream has no state but
  // its position).
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - UniformDouble()));
    return radius * std::cos(2.0 * std::numbers::pi * UniformDouble());
  }

  bool Bernoulli(float probability) { return Uniform() < probability; }

 private:
  uint64_t key_;
  PhiloxBlock counter_;
  PhiloxBlock block_{};
  int used_ = 4;
};

}  // namespace ort_ed
