// Mean pooling (the paper, section C.2): y = the mean of each window, so the negatives are uniform over the
// states with the same number of ones in each window. Windows at the right and lower edge are smaller where
// the window does not divide the image.

#include <algorithm>

#include "ort_ed/error.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

using Block = std::vector<uint32_t>;  // the coordinates of one window

class PoolPerturbation : public Perturbation {
 public:
  explicit PoolPerturbation(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float>) const override {
    const size_t dimension = positive.size();
    for (; !negatives.empty(); negatives = negatives.subspan(dimension)) {
      const std::span<uint8_t> negative = negatives.first(dimension);
      std::copy(positive.begin(), positive.end(), negative.begin());
      for (const Block& block : blocks_) Rearrange(random, block, negative);
    }
  }

 private:
  // Keeps the number of ones, forgets where they are. Only the rarer of the two values is placed, by Floyd's
  // algorithm: a uniform subset of k out of n places with k random numbers.
  static void Rearrange(RandomStream& random, const Block& block, std::span<uint8_t> x) {
    const auto size = static_cast<uint32_t>(block.size());
    uint32_t ones = 0;
    for (uint32_t cell : block) ones += x[cell];
    if (ones == 0 || ones == size) return;
    const uint8_t rare = 2 * ones <= size;
    const uint32_t count = rare ? ones : size - ones;
    for (uint32_t cell : block) x[cell] = rare ^ 1;
    for (uint32_t last = size - count; last < size; ++last) {
      const uint32_t place = block[random.Below(last + 1)];
      x[x[place] == rare ? block[last] : place] = rare;
    }
  }

  std::vector<Block> blocks_;
};

std::string Shape(const std::vector<int64_t>& extents) {
  std::string text;
  for (int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::unique_ptr<Perturbation> Make(const PerturbationOptions& options) {
  std::vector<int64_t> image = options.image_shape;
  if (image.empty()) image = {options.dimension, 1};
  if (image.size() != 2 || image[0] < 1 || image[1] < 1 || image[0] * image[1] != options.dimension) {
    throw Error(ErrorCode::kInvalidArgument, "image shape " + Shape(image) + " does not hold the " +
                                                 std::to_string(options.dimension) + " values of a row");
  }
  std::vector<int64_t> window = options.window.empty() ? image : options.window;
  if (window.size() == 1) window.push_back(1);
  if (window.size() != 2 || window[0] < 1 || window[1] < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "the window of the pool perturbation must be a height and a width of at least 1, not '" +
                    Shape(window) + "'");
  }
  if (window[1] > image[1]) {
    throw Error(ErrorCode::kInvalidArgument, "a window of " + Shape(window) + " is wider than a row of " +
                                                 Shape(image) +
                                                 "; give the image shape, or a window of one number");
  }
  if (window[0] * window[1] == 1) {
    throw Error(ErrorCode::kInvalidArgument, "a window of 1x1 leaves every row as it is; give a larger one");
  }

  std::vector<Block> blocks;
  for (int64_t top = 0; top < image[0]; top += window[0]) {
    for (int64_t left = 0; left < image[1]; left += window[1]) {
      Block& block = blocks.emplace_back();
      for (int64_t i = top; i < std::min(top + window[0], image[0]); ++i) {
        for (int64_t j = left; j < std::min(left + window[1], image[1]); ++j) {
          block.push_back(static_cast<uint32_t>(i * image[1] + j));
        }
      }
    }
  }
  return std::make_unique<PoolPerturbation>(std::move(blocks));
}

}  // namespace

extern const PerturbationKind kPoolPerturbation;
const PerturbationKind kPoolPerturbation = {"pool", "the values within each window are shuffled", false,
                                            &Make};

}  // namespace ort_ed
