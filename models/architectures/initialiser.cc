#include "models/architectures/initialiser.h"

#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kPurpose = 0x696E6974;  // "init"
constexpr int64_t kMaxElements =
    (int64_t{1} << 29) - (int64_t{1} << 20);  // floats of 2 GiB, room for the rest

}  // namespace

size_t Initialiser::Reserve(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) count = kMaxElements + 1;
  }
  if (count > kMaxElements - elements_) {
    throw Error(ErrorCode::kInvalidArgument,
                "the model would have more than " + std::to_string(kMaxElements) +
                    " parameters, too many for one ONNX file (2 GiB); choose fewer or narrower layers");
  }
  elements_ += count;
  return static_cast<size_t>(count);
}

std::vector<float> Initialiser::Normal(std::span<const int64_t> shape, double standard_deviation) {
  std::vector<float> values(Reserve(shape));
  RandomStream random(seed_, kPurpose, stream_++, 0);
  for (float& value : values) value = static_cast<float>(standard_deviation * random.Normal());
  return values;
}

std::vector<float> Initialiser::Uniform(std::span<const int64_t> shape, double bound) {
  std::vector<float> values(Reserve(shape));
  RandomStream random(seed_, kPurpose, stream_++, 0);
  for (float& value : values) value = static_cast<float>(bound * (2 * random.UniformDouble() - 1));
  return values;
}

std::vector<float> Initialiser::Fill(std::span<const int64_t> shape, float value) {
  return std::vector<float>(Reserve(shape), value);
}

}  // namespace ort_ed
