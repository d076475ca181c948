// What refilling draws, against laws that are enumerated.

#include <gtest/gtest.h>

#include "tests/sampler/small_autoregressive.h"
#include "tests/sampler/test_energies.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4;
constexpr uint32_t kStates = 1u << kDimension;

// Whether two states agree in what a network draws before `start`.
bool Agree(uint32_t a, uint32_t b, std::span<const int32_t> order, int64_t start) {
  for (int64_t k = 0; k < start; ++k)
    if (((a ^ b) >> order[k] & 1) != 0) return false;
  return true;
}

// Of two negatives of one row together, which share the network and what is left of the row.
Law LawOfPairs(const std::vector<AutoregressiveTensors>& tensors, uint32_t row, int64_t shortest,
               int64_t longest) {
  std::vector<Law> laws;
  double total = 0;
  for (const AutoregressiveTensors& each : tensors) {
    laws.push_back(LawOf(AutoregressiveBase(each)));
    total += laws.back()[row];
  }
  const AutoregressiveBase base(tensors);
  Law pairs(kStates * kStates);
  for (size_t k = 0; k < laws.size(); ++k) {
    for (int64_t length = shortest; length <= longest; ++length) {
      Law recoveries(kStates);
      double sum = 0;
      for (uint32_t s = 0; s < kStates; ++s)
        if (Agree(s, row, base.order(static_cast<int64_t>(k)), kDimension - length))
          sum += recoveries[s] = laws[k][s];
      const double weight = laws[k][row] / total / static_cast<double>(longest - shortest + 1) / (sum * sum);
      for (uint32_t a = 0; a < kStates; ++a)
        for (uint32_t b = 0; b < kStates; ++b)
          pairs[a * kStates + b] += weight * recoveries[a] * recoveries[b];
    }
  }
  return pairs;
}

TEST(Refill, DrawsFromTheBaseGivenWhatIsLeft) {
  constexpr int64_t kPositives = 40000;
  for (const int64_t networks : {1, 3}) {
    const std::vector<AutoregressiveTensors> tensors = MixtureTensors(kDimension, networks, {5}, 4);
    RowContext rows{.dimension = kDimension, .base = std::make_shared<const AutoregressiveBase>(tensors)};
    for (const int64_t shortest : {1, 2}) {
      const auto source = MakeNegatives({"refill", {{"shortest", shortest}, {"longest", 3}}}, rows);
      const uint32_t state = 0b0110;
      ContrastiveBatch batch(kPositives, 2, kDimension, false);
      for (int64_t i = 0; i < kPositives; ++i)
        for (int64_t k = 0; k < kDimension; ++k) batch.Positive(i)[k] = static_cast<uint8_t>(state >> k & 1);
      source->Fill({.seed = 9, .step = 3}, batch);
      std::map<uint32_t, double> counts;
      for (int64_t i = 0; i < kPositives; ++i) {
        const std::vector<float> both(batch.Negatives(i).begin(), batch.Negatives(i).end());
        ++counts[StateNumber(std::span(both).first(kDimension)) * kStates +
                 StateNumber(std::span(both).last(kDimension))];
      }
      ExpectLaw(counts, LawOfPairs(tensors, state, shortest, 3),
                std::to_string(networks) + " networks from " + std::to_string(shortest));
    }
  }
}

}  // namespace
}  // namespace ort_ed
