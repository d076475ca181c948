// What refilling draws, against laws that are enumerated.

#include <gtest/gtest.h>

#include "tests/sampler/small_autoregressive.h"
#include "tests/sampler/test_energies.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 5;
constexpr uint32_t kStates = 1u << kDimension;

// Five bits, as variables of their own or as three variables.
std::vector<Variables> Lists() {
  return {Variables::Binary(kDimension),
          Variables({{.name = "a"},
                     {.name = "b", .kind = VariableKind::kNominal, .labels = {"x", "y", "z"}},
                     {.name = "c"}})};
}

std::vector<float> Bits(uint32_t state) {
  std::vector<float> row;
  for (int64_t i = 0; i < kDimension; ++i) row.push_back(static_cast<float>(state >> i & 1));
  return row;
}

// Whether two states agree in what a network draws before `start`.
bool Agree(uint32_t a, uint32_t b, const AutoregressiveBase& base, size_t network, int64_t start) {
  const std::vector<float> left = Bits(a), right = Bits(b);
  for (int64_t k = 0; k < start; ++k) {
    const int32_t variable = base.order(static_cast<int64_t>(network))[k];
    if (base.variables().State(left.data(), variable) != base.variables().State(right.data(), variable))
      return false;
  }
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
        if (Agree(s, row, base, k, base.variables().size() - length)) sum += recoveries[s] = laws[k][s];
      const double weight = laws[k][row] / total / static_cast<double>(longest - shortest + 1) / (sum * sum);
      for (uint32_t a = 0; a < kStates; ++a)
        for (uint32_t b = 0; b < kStates; ++b)
          pairs[a * kStates + b] += weight * recoveries[a] * recoveries[b];
    }
  }
  return pairs;
}

TEST(Refill, DrawsFromTheBaseGivenWhatIsLeft) {
  constexpr int64_t kPositives = 40000, kLongest = 3;
  constexpr uint32_t kState = 0b00101;
  const std::vector<float> row = Bits(kState);
  for (const Variables& variables : Lists())
    for (const int64_t networks : {1, 3})
      for (const int64_t shortest : {1, 2}) {
        const std::vector<AutoregressiveTensors> tensors = MixtureTensors(variables, networks, {5}, 4);
        const RowContext rows{.dimension = kDimension,
                              .variables = variables,
                              .base = std::make_shared<const AutoregressiveBase>(tensors)};
        const auto source = MakeNegatives({"refill", {{"shortest", shortest}, {"longest", kLongest}}}, rows);
        ContrastiveBatch batch(kPositives, 2, kDimension, false);
        for (int64_t i = 0; i < kPositives; ++i) std::ranges::copy(row, batch.Positive(i).begin());
        source->Fill({.seed = 9, .step = 3}, batch);
        std::map<uint32_t, double> counts;
        for (int64_t i = 0; i < kPositives; ++i) {
          const std::vector<float> both(batch.Negatives(i).begin(), batch.Negatives(i).end());
          ++counts[StateNumber(std::span(both).first(kDimension)) * kStates +
                   StateNumber(std::span(both).last(kDimension))];
        }
        ExpectLaw(counts, LawOfPairs(tensors, kState, shortest, kLongest),
                  std::to_string(variables.size()) + " variables, " + std::to_string(networks) +
                      " networks, from " + std::to_string(shortest));
      }
}

}  // namespace
}  // namespace ort_ed
