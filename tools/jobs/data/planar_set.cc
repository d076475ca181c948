// The planar densities as rows of 32 bits.

#include <algorithm>

#include <fmt/format.h>

#include "tools/jobs/data/synthetic_kinds.h"

namespace ort_ed {
namespace {

constexpr int64_t kBlockRows = 4096;

class PlanarRows : public RowSource {
 public:
  PlanarRows(const PlanarDensity& density, uint64_t seed) : density_(density), seed_(seed) {}
  int64_t columns() const override { return PlanarCode::kBits; }
  void Draw(int64_t n, std::span<uint8_t> bits) override {
    DrawPlanarRows(density_, seed_, static_cast<uint64_t>(n), bits);
  }

 private:
  const PlanarDensity& density_;
  uint64_t seed_;
};

class PlanarSet : public SyntheticSet {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };

  explicit PlanarSet(const PlanarDensity& density) : density_(density) {}

  int64_t columns() const override { return PlanarCode::kBits; }
  std::string DescribeRow() const override {
    return fmt::format("{} bits; entropy {:.4f} nats", PlanarCode::kBits, density_.entropy);
  }

  void Draw(int64_t rows, uint64_t seed, const Consumer& consume, Observer& observer) const override {
    const auto watch = Watch(observer, fmt::format("drawing {}", density_.name), "rows");
    std::vector<uint8_t> block;
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      const int64_t count = std::min(kBlockRows, rows - row);
      block.resize(static_cast<size_t>(count * PlanarCode::kBits));
      DrawPlanarRows(density_, seed, static_cast<uint64_t>(row), block);
      consume(block);
      watch(row + count, rows);
    }
  }

  std::unique_ptr<RowSource> Endless(uint64_t seed) const override {
    return std::make_unique<PlanarRows>(density_, seed);
  }
  PlanarPoint Point(uint64_t seed, int64_t row) const override {
    return DrawPlanarPoint(density_, seed, static_cast<uint64_t>(row));
  }

 private:
  const PlanarDensity& density_;
};

}  // namespace

std::vector<SyntheticKind> PlanarKinds() {
  std::vector<SyntheticKind> kinds;
  for (const PlanarDensity& density : PlanarDensities())
    kinds.push_back(
        {.name = density.name,
         .summary = fmt::format("{} in the plane, {} bits", density.summary, PlanarCode::kBits),
         .schema = &SchemaOf<PlanarSet::Options>,
         .make = [](const SyntheticKind& kind, const OptionMap&, int) -> std::unique_ptr<SyntheticSet> {
           return std::make_unique<PlanarSet>(FindPlanarDensity(kind.name));
         },
         .endless = true,
         .has_points = true});
  return kinds;
}

}  // namespace ort_ed
