// What a construction policy does, against enumeration of its paths.

#include "trainer/policy/construction_paths.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "models/policy/construction_policy.h"
#include "tests/sampler/law_test.h"

namespace ort_ed {
namespace {

using namespace construction_policy;
using State = std::vector<uint8_t>;

constexpr int64_t kDimension = 4;
constexpr uint32_t kTestPurpose = 0x7465;

// Logits that differ from state to state without any order.
float TableLogit(std::span<const uint8_t> state, int64_t k) {
  uint64_t number = 1;
  for (const uint8_t code : state) number = 3 * number + code;
  RandomStream random(5, kTestPurpose, number, static_cast<uint64_t>(k));
  return static_cast<float>(0.7 * random.Normal());
}

PolicyView TablePolicy(int threads = 1) {
  return {.dimension = kDimension,
          .logits =
              [](std::span<const uint8_t> states, std::span<float> logits) {
                const size_t width = 3 * kDimension;
                for (size_t i = 0; i < logits.size(); ++i)
                  logits[i] = TableLogit(states.subspan(i / width * kDimension, kDimension),
                                         static_cast<int64_t>(i % width));
              },
          .threads = threads};
}

// By the definitions, independently of the code under test.
double Softmax(const std::map<int64_t, double>& logits, int64_t chosen) {
  double total = 0;
  for (const auto& [k, logit] : logits) total += std::exp(logit);
  return std::exp(logits.at(chosen)) / total;
}

double Forward(const State& state, int64_t site, int value) {
  std::map<int64_t, double> logits;
  for (int64_t i = 0; i < kDimension; ++i)
    for (int v = 0; v < 2; ++v)
      if (state[i] == kHole) logits[v * kDimension + i] = TableLogit(state, v * kDimension + i);
  return Softmax(logits, value * kDimension + site);
}

double Backward(const State& state, int64_t site) {
  std::map<int64_t, double> logits;
  for (int64_t i = 0; i < kDimension; ++i)
    if (state[i] != kHole) logits[i] = TableLogit(state, 2 * kDimension + i);
  return Softmax(logits, site);
}

// Probability that the policy builds the row from here on.
double Reach(State& state, const State& row) {
  if (state == row) return 1;
  double sum = 0;
  for (int64_t i = 0; i < kDimension; ++i) {
    if (state[i] != kHole) continue;
    const double step = Forward(state, i, row[i]);
    state[i] = row[i];
    sum += step * Reach(state, row);
    state[i] = kHole;
  }
  return sum;
}

State RowOf(uint32_t number) {
  State row(kDimension);
  for (int64_t i = 0; i < kDimension; ++i) row[i] = number >> i & 1;
  return row;
}

uint32_t NumberOf(std::span<const uint8_t> row) {
  uint32_t number = 0;
  for (size_t i = 0; i < row.size(); ++i) number |= uint32_t{row[i]} << i;
  return number;
}

Law BuiltLaw() {
  Law law;
  for (uint32_t number = 0; number < 1u << kDimension; ++number) {
    State nothing(kDimension, kHole);
    law.push_back(Reach(nothing, RowOf(number)));
  }
  return law;
}

std::vector<RandomStream> Streams(int64_t count, uint64_t seed) {
  std::vector<RandomStream> streams;
  for (int64_t i = 0; i < count; ++i) streams.emplace_back(seed, kTestPurpose, 0, static_cast<uint64_t>(i));
  return streams;
}

std::map<uint32_t, double> Count(const std::vector<uint8_t>& rows) {
  std::map<uint32_t, double> counts;
  for (size_t i = 0; i < rows.size(); i += kDimension)
    ++counts[NumberOf(std::span(rows).subspan(i, kDimension))];
  return counts;
}

TEST(ConstructionPaths, BuildsRowsByItsLaw) {
  auto random = Streams(50000, 1);
  const ConstructionPaths paths = BuildRows(TablePolicy(), random);
  ExpectLaw(Count(paths.ends), BuiltLaw(), "rows");
}

TEST(ConstructionPaths, WaysFromARowTellItsProbability) {
  constexpr int64_t kPaths = 40000;
  const Law law = BuiltLaw();
  for (const uint32_t number : {0u, 5u, 14u}) {
    std::vector<uint8_t> rows;
    for (int64_t i = 0; i < kPaths; ++i)
      for (const uint8_t bit : RowOf(number)) rows.push_back(bit);
    auto random = Streams(kPaths, 2 + number);
    const ConstructionPaths paths = TakeApart(TablePolicy(), rows, random);
    EXPECT_EQ(paths.ends, rows);
    double sum = 0, squares = 0;
    for (const double ratio : LogPathRatios(TablePolicy(), paths)) {
      sum += std::exp(ratio);
      squares += std::exp(2 * ratio);
    }
    const double mean = sum / kPaths, error = std::sqrt((squares / kPaths - mean * mean) / kPaths);
    EXPECT_NEAR(mean, law[number], 5 * error);
    EXPECT_LT(error, 0.1 * law[number]);
  }
}

// By hand along one path.
TEST(ConstructionPaths, RatiosAndCodesFollowThePath) {
  const ConstructionPaths path{{1, 0, 0, 1}, {2, 0, 3, 1}};
  State state(kDimension, kHole);
  double expected = 0;
  for (const uint32_t site : path.order) {
    expected += std::log(Forward(state, site, path.ends[site]));
    state[site] = path.ends[site];
    expected -= std::log(Backward(state, site));
  }
  EXPECT_NEAR(LogPathRatios(TablePolicy(), path)[0], expected, 1e-6);
  EXPECT_EQ(EncodePaths(path, kDimension), (std::vector<uint8_t>{kHole,    kHole,     kNextZero, kHole,     //
                                                                 kNextOne, kHole,     kLastZero, kHole,     //
                                                                 kLastOne, kHole,     0,         kNextOne,  //
                                                                 1,        kNextZero, 0,         kLastOne,  //
                                                                 1,        kLastZero, 0,         1}));
}

// With the ratio of both ways, accepted by either rule, any law stays as it is.
TEST(ConstructionPaths, ReconstructionLeavesALawInvariant) {
  constexpr int64_t kChains = 40000;
  const auto energy = DenseEnergy(kDimension, 0.8, 7);
  const Law law = ExactLaw(EnergyPath(energy));
  std::vector<double> energies(law.size());
  energy->Energy(AllStates(kDimension), energies);
  for (const int64_t count : {int64_t{1}, int64_t{2}, kDimension})
    for (const bool barker : {false, true}) {
      std::vector<uint8_t> rows;
      for (const float bit : DrawFrom(law, kDimension, kChains, 3)) rows.push_back(static_cast<uint8_t>(bit));
      auto random = Streams(kChains, 11 + count);
      const Reconstruction proposed = Reconstruct(TablePolicy(), rows, count, random);
      int64_t moved = 0;
      for (int64_t i = 0; i < kChains; ++i) {
        const auto from = std::span(rows).subspan(i * kDimension, kDimension);
        const auto to = std::span(proposed.rows).subspan(i * kDimension, kDimension);
        const double log_ratio = energies[NumberOf(from)] - energies[NumberOf(to)] + proposed.log_ratios[i];
        const double accept = barker ? 1 / (1 + std::exp(-log_ratio)) : std::exp(log_ratio);
        if (!(random[i].UniformDouble() < accept)) continue;
        moved += NumberOf(from) != NumberOf(to);
        std::ranges::copy(to, from.begin());
      }
      ExpectLaw(Count(rows), law, std::to_string(count) + (barker ? " barker" : " metropolis"));
      EXPECT_GT(moved, kChains / 50);
    }
}

TEST(ConstructionPaths, DoNotDependOnThreads) {
  for (const int threads : {1, 3}) {
    auto one = Streams(500, 1), many = Streams(500, 1);
    EXPECT_EQ(BuildRows(TablePolicy(1), one).ends, BuildRows(TablePolicy(threads), many).ends);
  }
}

}  // namespace
}  // namespace ort_ed
