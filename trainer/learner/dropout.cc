#include "trainer/learner/dropout.h"

#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDropoutPurpose = 0x44524F50;  // "DROP"

}

std::vector<float> DrawDropout(const DropoutOptions& options, size_t layer, int64_t step, int64_t rows) {
  const int64_t units = options.layers[layer].units;
  const double rate = options.layers[layer].rate;
  const auto kept = static_cast<float>(1 / (1 - rate));
  const auto threshold = static_cast<uint32_t>(rate * 65536);
  std::vector<float> factors(static_cast<size_t>(rows * units));
  float* factor = factors.data();
  for (int64_t row = 0; row < rows; ++row) {
    RandomStream random(options.seed, kDropoutPurpose + static_cast<uint32_t>(layer),
                        static_cast<uint64_t>(step), static_cast<uint64_t>(row));
    for (int64_t unit = 0; unit < units; unit += 2) {
      const uint32_t word = random.Next32();
      *factor++ = (word & 0xFFFF) < threshold ? 0 : kept;
      if (unit + 1 < units) *factor++ = (word >> 16) < threshold ? 0 : kept;
    }
  }
  return factors;
}

}  // namespace ort_ed
