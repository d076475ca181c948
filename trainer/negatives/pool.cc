// Mean pooling (the paper, section C.2): y = the mean of each window, so the negatives are uniform over the
// states with the same number of ones in each window. Windows at the right and lower edge are smaller where
// the window does not divide the image.

#include <algorithm>

#include "runtime/support/text.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

using Block = std::vector<uint32_t>;  // the coordinates of one window

std::vector<int64_t> ImageShape(const RowContext& rows) {
  const std::vector<int64_t> shape =
      rows.image_shape.empty() ? std::vector{rows.dimension, int64_t{1}} : rows.image_shape;
  if (shape[0] * shape[1] != rows.dimension)
    throw OptionError("image_shape", "must hold the " + std::to_string(rows.dimension) +
                                         " variables of a row, which " + ShapeText(shape) + " does not");
  return shape;
}

// "4x4", or "3" for 3x1; empty: the whole image.
std::vector<int64_t> WindowShape(const std::string& text, const std::vector<int64_t>& image) {
  if (text.empty()) return image;
  const auto window = ParseShape(text.find('x') == std::string::npos ? text + "x1" : text);
  if (!window)
    throw OptionError("window",
                      "must be a height and a width such as 4x4, or one number, not '" + text + "'");
  if ((*window)[1] > image[1])
    throw OptionError("window", "must not be wider than a row of " + ShapeText(image) +
                                    "; give the image shape, or a window of one number");
  if ((*window)[0] * (*window)[1] == 1)
    throw OptionError("window", "must be larger: 1x1 leaves every row as it is");
  return *window;
}

std::vector<Block> CutIntoBlocks(const std::vector<int64_t>& image, const std::vector<int64_t>& window) {
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
  return blocks;
}

class PoolPerturbation final : public Perturbation {
 public:
  struct Options {
    std::string window;
    static void Describe(Declare<Options>& declare) {
      declare("window", &Options::window, "HxW", "h x w, or h").Default("the whole row");
    }
  };

  PoolPerturbation(const Options& options, const RowContext& rows) : window_(options.window) {
    const std::vector<int64_t> image = ImageShape(rows);
    blocks_ = CutIntoBlocks(image, WindowShape(options.window, image));
  }

  OptionMap Describe(double) const override { return {{"window", window_}}; }

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

  std::string window_;
  std::vector<Block> blocks_;
};

}  // namespace

extern const NegativeKind kPoolNegatives;
const NegativeKind kPoolNegatives =
    PerturbationKind<PoolPerturbation>("pool", "the values within each window are shuffled");

}  // namespace ort_ed
