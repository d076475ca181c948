#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ort_ed {

// Initial values of parameters. Every call draws from a stream of its own, numbered in order of the calls, so
// the same calls with the same seed give the same values.
class Initialiser {
 public:
  explicit Initialiser(uint64_t seed) : seed_(seed) {}

  std::vector<float> Normal(std::span<const int64_t> shape, double standard_deviation);
  // Uniform on [-bound, bound].
  std::vector<float> Uniform(std::span<const int64_t> shape, double bound);
  std::vector<float> Fill(std::span<const int64_t> shape, float value);

 private:
  // The number of elements. Throws kInvalidArgument where all parameters together outgrow an ONNX file.
  size_t Reserve(std::span<const int64_t> shape);

  uint64_t seed_;
  uint64_t stream_ = 0;
  int64_t elements_ = 0;
};

}  // namespace ort_ed
