#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chi_square.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/negatives/perturbation_law.h"

namespace ort_ed {
namespace {

constexpr uint64_t kSeed = 20230716;

// A weight as part of a discrete outcome.
int64_t Rounded(double log_weight) { return std::llround(log_weight * 1e4); }

class PerturbationLawTest : public testing::TestWithParam<PerturbationLaw> {};

class SampledPerturbationTest : public PerturbationLawTest {};
class ExactPerturbationTest : public PerturbationLawTest {};

// Mixtures of both kinds are neither.
std::vector<PerturbationLaw> LawsThatAre(bool exact) {
  std::vector<PerturbationLaw> laws = SmallLaws();
  std::erase_if(
      laws, [exact](const PerturbationLaw& law) { return law.any_exact != exact || law.all_exact != exact; });
  return laws;
}

TEST_P(PerturbationLawTest, RecoveryGivesTheContrastivePotential) {
  const PerturbationLaw& law = GetParam();
  std::vector<double> energy(law.States());
  for (State x = 0; x < law.States(); ++x) energy[x] = std::sin(3.0 * x + 1);
  for (const auto& [y, recoveries] : law.recovery) {
    double expectation = 0;
    for (const auto& r : recoveries) expectation += r.probability * r.omega * std::exp(-energy[r.state]);
    EXPECT_NEAR(-std::log(law.volume.at(y) * expectation), ContrastivePotential(law, energy, y), 1e-12);
  }
}

// The joint law of two sampled negatives with their weights, which also shows that they share one y.
TEST_P(SampledPerturbationTest, PairsOfNegativesFollowTheDefinition) {
  const PerturbationLaw& law = GetParam();
  using Outcome = std::tuple<State, State, int64_t, int64_t, int64_t>;
  constexpr int kDraws = 60000;
  const auto source = law.Make();
  for (State x : {State{0}, State{5}, State{6}, law.States() - 1}) {
    std::map<Outcome, double> expected, counts;
    for (const auto& [y, q] : law.forward[x]) {
      double own_weight = 0;
      for (const auto& r : law.recovery.at(y)) {
        if (r.state == x) own_weight = std::log(r.omega);
      }
      for (const auto& a : law.recovery.at(y)) {
        for (const auto& b : law.recovery.at(y)) {
          expected[{a.state, b.state, Rounded(own_weight), Rounded(std::log(a.omega)),
                    Rounded(std::log(b.omega))}] += q * a.probability * b.probability;
        }
      }
    }
    ContrastiveBatch batch = EmptyBatch(*source, kDraws, 2, law.dimension);
    for (int64_t i = 0; i < kDraws; ++i)
      std::ranges::copy(RowOf(x, law.dimension), batch.Positive(i).begin());
    source->Fill({.seed = kSeed, .step = x}, batch);
    for (int64_t i = 0; i < kDraws; ++i) {
      std::vector<float> w(3, 0.0f);
      if (!batch.log_weights.empty()) std::ranges::copy(batch.LogWeights(i), w.begin());
      const auto negatives = batch.Negatives(i);
      ++counts[{StateOf(negatives.first(law.dimension)), StateOf(negatives.last(law.dimension)),
                Rounded(w[0]), Rounded(w[1]), Rounded(w[2])}];
    }
    const ChiSquare test = ChiSquareTest(counts, expected);
    EXPECT_TRUE(test.Passes()) << "x = " << x << ": chi-square " << test.statistic << " with " << test.degrees
                               << " degrees, " << test.draws_where_none_can_be << " impossible draws";
  }
}

// All recoveries of y, once each; weights relative to M, zero for padding.
TEST_P(ExactPerturbationTest, EnumerationHoldsEveryRecoveryOnce) {
  const PerturbationLaw& law = GetParam();
  using Outcome = std::map<State, int64_t>;
  constexpr int kDraws = 20000;
  const auto source = law.Make();
  const auto [m, weighted] = source->shape(7);
  for (State x : {State{0}, State{5}, law.States() - 1}) {
    std::map<Outcome, double> expected, counts;
    for (const auto& [y, q] : law.forward[x]) {
      Outcome outcome;
      const auto& recoveries = law.recovery.at(y);
      for (const auto& r : recoveries) {
        outcome[r.state] = Rounded(std::log(r.omega * m / static_cast<double>(recoveries.size())));
      }
      expected[outcome] += q;
    }
    ContrastiveBatch batch = EmptyBatch(*source, kDraws, 7, law.dimension);
    for (int64_t i = 0; i < kDraws; ++i)
      std::ranges::copy(RowOf(x, law.dimension), batch.Positive(i).begin());
    source->Fill({.seed = kSeed, .step = x}, batch);
    for (int64_t i = 0; i < kDraws; ++i) {
      Outcome outcome;
      for (int64_t j = 0; j < m; ++j) {
        const float weight = weighted ? batch.LogWeights(i)[1 + j] : 0;
        if (weight < -1e20) continue;
        const State negative = StateOf(batch.Negatives(i).subspan(j * law.dimension, law.dimension));
        EXPECT_TRUE(outcome.emplace(negative, Rounded(weight)).second) << "twice: " << negative;
      }
      if (weighted) {
        EXPECT_EQ(Rounded(batch.LogWeights(i)[0]), outcome.at(x));
      }
      ++counts[outcome];
    }
    EXPECT_TRUE(ChiSquareTest(counts, expected).Passes());
  }
}

TEST_P(PerturbationLawTest, RowsDependOnTheirKeyOnly) {
  const PerturbationLaw& law = GetParam();
  const auto source = law.Make();
  const auto fill = [&](int64_t rows, int64_t first_row, uint64_t seed, int64_t step) {
    ContrastiveBatch batch = EmptyBatch(*source, rows, 5, law.dimension);
    for (int64_t i = 0; i < rows; ++i) {
      const State x = static_cast<State>((first_row + i) * 5 % law.States());
      std::ranges::copy(RowOf(x, law.dimension), batch.Positive(i).begin());
    }
    source->Fill({.seed = seed, .step = step, .first_row = first_row}, batch);
    return batch;
  };
  const ContrastiveBatch whole = fill(64, 0, 1, 2);
  ContrastiveBatch parts = fill(40, 0, 1, 2);
  const ContrastiveBatch rest = fill(24, 40, 1, 2);
  parts.rows.insert(parts.rows.end(), rest.rows.begin(), rest.rows.end());
  parts.log_weights.insert(parts.log_weights.end(), rest.log_weights.begin(), rest.log_weights.end());
  EXPECT_EQ(whole.rows, parts.rows);
  EXPECT_EQ(whole.log_weights, parts.log_weights);
  EXPECT_NE(whole.rows, fill(64, 0, 2, 2).rows);
  EXPECT_NE(whole.rows, fill(64, 0, 1, 3).rows);
}

const auto kNameOf = [](const testing::TestParamInfo<PerturbationLaw>& test) { return test.param.Name(); };
INSTANTIATE_TEST_SUITE_P(All, PerturbationLawTest, testing::ValuesIn(SmallLaws()), kNameOf);
INSTANTIATE_TEST_SUITE_P(All, SampledPerturbationTest, testing::ValuesIn(LawsThatAre(/*exact=*/false)),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(All, ExactPerturbationTest, testing::ValuesIn(LawsThatAre(/*exact=*/true)), kNameOf);

// Over word boundaries and for a small epsilon: every coordinate of every negative flips with probability
// 2 epsilon (1 - epsilon), two negatives together with epsilon (1 - epsilon) (noise of y and none of theirs,
// or the reverse: epsilon (1-epsilon)^2 + (1-epsilon) epsilon^2).
TEST(BernoulliPerturbation, MarginalsAndPairsInManyDimensions) {
  constexpr int kDimension = 131, kRows = 4000, kNegatives = 3;
  for (double epsilon : {0.5, 0.1, 0.005}) {
    const auto source = MakeNegatives({"bernoulli", {{"epsilon", epsilon}}}, {.dimension = kDimension});
    ContrastiveBatch batch(kRows, kNegatives, kDimension, false);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int d = 0; d < kDimension; ++d) batch.Positive(i)[d] = (i + d) % 3 == 0;
    }
    source->Fill({.seed = kSeed, .step = 1}, batch);
    std::vector<double> flips(kDimension * kNegatives);
    double both = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int d = 0; d < kDimension; ++d) {
        int count = 0;
        for (int j = 0; j < kNegatives; ++j) {
          const int flip = batch.Negatives(i)[j * kDimension + d] ^ batch.Positive(i)[d];
          flips[j * kDimension + d] += flip;
          if (j < 2) count += flip;
        }
        both += count == 2;
      }
    }
    // A binomial count lies within 7 standard deviations with probability above 1 - 1e-9, also for small
    // means with the additive term of Bernstein's inequality.
    const auto near = [](double count, double trials, double p) {
      return std::abs(count - trials * p) <= 7 * std::sqrt(trials * p * (1 - p)) + 14;
    };
    const double marginal = 2 * epsilon * (1 - epsilon);
    for (double count : flips) EXPECT_TRUE(near(count, kRows, marginal)) << count << " at " << epsilon;
    EXPECT_TRUE(near(std::reduce(flips.begin(), flips.end()) / kNegatives, kRows * kDimension, marginal));
    EXPECT_TRUE(near(both, kRows * kDimension, epsilon * (1 - epsilon))) << both << " at " << epsilon;
  }
}

TEST(PoolPerturbation, KeepsTheOnesOfEachWindowAtTheEdgesToo) {
  constexpr int kHeight = 7, kWidth = 5, kNegatives = 20;
  const auto source = MakeNegatives({"pool", {{"window", "3x2"}}},
                                    {.dimension = kHeight * kWidth, .image_shape = {kHeight, kWidth}});
  ContrastiveBatch batch(1, kNegatives, kHeight * kWidth, false);
  for (int d = 0; d < kHeight * kWidth; ++d) batch.Positive(0)[d] = d * d % 7 < 3;
  source->Fill({.seed = kSeed, .step = 1}, batch);
  const auto ones = [&](std::span<const uint8_t> row) {
    std::vector<int> counts(9);
    for (int i = 0; i < kHeight; ++i) {
      for (int j = 0; j < kWidth; ++j) counts[i / 3 * 3 + j / 2] += row[i * kWidth + j];
    }
    return counts;
  };
  for (int j = 0; j < kNegatives; ++j) {
    const auto negative = batch.Negatives(0).subspan(j * kHeight * kWidth, kHeight * kWidth);
    EXPECT_EQ(ones(negative), ones(batch.Positive(0)));
    EXPECT_FALSE(std::ranges::equal(negative, batch.Positive(0)));
  }
}

TEST(PoolPerturbation, WithoutWindowShufflesTheWholeRow) {
  const auto source = MakeNegatives("pool", {.dimension = 6});
  ContrastiveBatch batch(2000, 1, 6, false);
  for (int64_t i = 0; i < batch.positives; ++i) batch.Positive(i)[0] = batch.Positive(i)[3] = 1;
  source->Fill({.seed = kSeed, .step = 1}, batch);
  std::map<State, double> counts, expected;
  for (int64_t i = 0; i < batch.positives; ++i) ++counts[StateOf(batch.Negatives(i))];
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < a; ++b) expected[State{1} << a | State{1} << b] = 1.0 / 15;
  }
  EXPECT_TRUE(ChiSquareTest(counts, expected).Passes());
}

// Four drawn negatives, or the four that grid enumerates and two left over.
TEST(Mixture, EnumerationsHaveNoWAndNoRowsLeftOver) {
  constexpr int kDimension = 4, kRows = 4000;
  const auto mixture =
      MakeNegatives({"grid+bernoulli", {{"epsilon", 0.5}, {"exact", true}}}, {.dimension = kDimension});
  EXPECT_EQ(mixture->shape(2).negatives, 4);
  EXPECT_EQ(mixture->shape(6).negatives, 6);
  EXPECT_TRUE(mixture->shape(6).weighted);
  EXPECT_FALSE(mixture->enumerates());
  ContrastiveBatch batch(kRows, 6, kDimension, true);
  mixture->Fill({.seed = kSeed, .step = 1}, batch);
  int enumerated = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    const auto weights = batch.LogWeights(i);
    if (weights[0] == 0) {
      EXPECT_THAT(weights, testing::Each(0));
      continue;
    }
    ++enumerated;
    EXPECT_LT(weights[0], -1e20);
    std::set<State> negatives;
    for (int j = 0; j < 4; ++j) {
      EXPECT_FLOAT_EQ(weights[1 + j], std::log(6.0f / 4));
      negatives.insert(StateOf(batch.Negatives(i).subspan(j * kDimension, kDimension)));
    }
    EXPECT_EQ(negatives.size(), 4u);
    EXPECT_LT(weights[5], -1e20);
    EXPECT_LT(weights[6], -1e20);
  }
  EXPECT_NEAR(enumerated, kRows / 2, 7 * std::sqrt(kRows / 4));
}

TEST(Mixture, OnlyEnumerationsNeedNoWeights) {
  const auto mixture = MakeNegatives({"grid+grid", {{"exact", true}}}, {.dimension = 3});
  EXPECT_TRUE(mixture->enumerates());
  EXPECT_FALSE(mixture->shape(100).weighted);
  EXPECT_EQ(mixture->shape(100).negatives, 3);
}

TEST(Mixture, EnumerationsOfDifferentLengthsAreWeighted) {
  constexpr int64_t kDimension = 3, kRows = 200;
  const auto mixture =
      MakeNegatives({"grid+erase", {{"block", kDimension}, {"exact", true}}}, {.dimension = kDimension});
  EXPECT_TRUE(mixture->enumerates());
  ASSERT_TRUE(mixture->shape(1).weighted);
  ASSERT_EQ(mixture->shape(1).negatives, 8);
  ContrastiveBatch batch(kRows, 8, kDimension, true);
  mixture->Fill({.seed = kSeed, .step = 1}, batch);
  int grid = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    const auto weights = batch.LogWeights(i);
    EXPECT_EQ(weights[0], weights[1]);
    if (weights[8] > -1e20) {
      EXPECT_THAT(weights, testing::Each(0));
      continue;
    }
    ++grid;
    for (int j = 1; j <= 3; ++j) EXPECT_FLOAT_EQ(weights[j], std::log(8.0f / 3));
    for (int j = 4; j <= 8; ++j) EXPECT_LT(weights[j], -1e20);
  }
  EXPECT_NEAR(grid, kRows / 2, 7 * std::sqrt(kRows / 4));
}

// What is refused, and which option is to blame.
void ExpectRefusal(const Choice& method, const RowContext& rows, const std::string& key,
                   const std::string& part, OptionError::Problem problem = OptionError::Problem::kValue) {
  try {
    MakeNegatives(method, rows);
    ADD_FAILURE() << method.kind << " should not take " << key;
  } catch (const OptionError& error) {
    EXPECT_EQ(error.key(), key);
    EXPECT_THAT(error.reason(), testing::HasSubstr(part));
    EXPECT_EQ(error.problem(), problem) << error.what();
  }
}

TEST(MakeNegatives, RefusesWhatMakesNoSense) {
  const RowContext rows{.dimension = 6};
  for (const char* name : {"gauss", "", "grid+", "grid+gauss"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { MakeNegatives(name, rows); },
        "bernoulli, pool, grid, neighbourhood, erase");
  ExpectRefusal({"bernoulli", {{"epsilon", std::vector<double>()}}}, rows, "epsilon", "number");
  for (double epsilon : {0.0, 1.0, -1.0})
    ExpectRefusal({"bernoulli", {{"epsilon", std::vector{0.3, epsilon}}}}, rows, "epsilon", "(0, 1)");
  ExpectRefusal({"bernoulli", {{"epsilon", std::vector{0.3, std::nan("")}}}}, rows, "epsilon", "finite");
  ExpectRefusal("pool", {.dimension = 6, .image_shape = {2, 2}}, "image_shape", "2x2");
  const RowContext image{.dimension = 6, .image_shape = {2, 3}};
  for (const char* window : {"0x2", "1x1"})
    ExpectRefusal({"pool", {{"window", window}}}, image, "window", window);
  ExpectRefusal({"pool", {{"window", "2x4"}}}, image, "window", "wider than a row of 2x3");
  ExpectRefusal({"neighbourhood", {{"moves", "++-"}}}, rows, "moves", "++-");
  ExpectRefusal({"neighbourhood", {{"moves", "......"}}}, rows, "moves", "some variable change");
  ExpectRefusal({"erase", {{"block", 0}}}, rows, "block", "[1, 20]");
  ExpectRefusal({"erase", {{"block", 7}}}, rows, "block", "at most the 6 variables");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { MakeNegatives("grid", {}); }, "dimension");
}

TEST(MakeNegatives, RefusesOptionsThatAreUnknownOrOfOtherKinds) {
  constexpr auto kUnknown = OptionError::Problem::kUnknownName;
  const RowContext rows{.dimension = 6};
  ExpectRefusal({"bernoulli", {{"epsilom", 0.1}}}, rows, "epsilom",
                "is no option of bernoulli; there are epsilon, epsilon_end", kUnknown);
  ExpectRefusal({"grid", {{"epsilon", 0.1}}}, rows, "epsilon", "is no option of grid; there are exact",
                kUnknown);
  ExpectRefusal({"pool+grid", {{"window", "2"}, {"block", 2}}}, rows, "block", "is no option of pool+grid",
                kUnknown);
  ExpectRefusal({"bernoulli", {{"exact", true}}}, rows, "exact", "is no option of bernoulli", kUnknown);
}

// Every kind of a mixture takes what it has an option for.
TEST(MakeNegatives, JoinedKindsShareOptionsByName) {
  const RowContext rows{.dimension = 4};
  EXPECT_TRUE(MakeNegatives({"grid+erase", {{"exact", true}}}, rows)->enumerates());
  EXPECT_FALSE(MakeNegatives("grid+erase", rows)->enumerates());
  const auto all =
      MakeNegatives({"grid+neighbourhood+erase", {{"exact", true}, {"moves", "+..."}, {"block", 3}}}, rows);
  EXPECT_TRUE(all->enumerates());
  EXPECT_EQ(all->shape(1).negatives, 8);
  const OptionMap described =
      MakeNegatives({"pool+bernoulli", {{"window", "2"}, {"epsilon", 0.3}}}, rows)->Describe(1);
  EXPECT_EQ(described, (OptionMap{{"epsilon", std::vector{0.3}}, {"window", "2"}}));
  // Twice the same kind has the same options twice: more than one level of noise takes a list.
  EXPECT_EQ(MakeNegatives({"bernoulli+bernoulli", {{"epsilon", 0.3}}}, rows)->Describe(1),
            (OptionMap{{"epsilon", std::vector{0.3}}}));
}

ContrastiveBatch FilledAt(NegativeSource& source, double progress) {
  constexpr int64_t kDimension = 40;
  ContrastiveBatch batch = EmptyBatch(source, 20, 8, kDimension);
  source.Fill({.seed = kSeed, .step = 3, .progress = progress}, batch);
  return batch;
}

// One source for the whole training, whose noise at any time is that of a source of this level; in any order,
// since training and validation take turns. By equal factors: half way is the geometric mean.
TEST(AnnealedNoise, LevelFollowsTheProgress) {
  const RowContext rows{.dimension = 40};
  const auto plain = [&](const char* kind, std::vector<double> levels) {
    return FilledAt(*MakeNegatives({kind, {{"epsilon", std::move(levels)}}}, rows), 0).rows;
  };
  for (const char* kind : {"bernoulli", "grid+bernoulli"}) {
    const auto annealed = MakeNegatives({kind, {{"epsilon", 0.4}, {"epsilon_end", 0.1}}}, rows);
    EXPECT_EQ(FilledAt(*annealed, 0).rows, plain(kind, {0.4})) << kind;
    EXPECT_EQ(FilledAt(*annealed, 1).rows, plain(kind, {0.1})) << kind;
    EXPECT_EQ(FilledAt(*annealed, 0.5).rows, plain(kind, {0.2})) << kind;
    EXPECT_EQ(FilledAt(*annealed, 0).rows, plain(kind, {0.4})) << kind;
    EXPECT_EQ(&annealed->validation(), annealed.get());
  }
  const auto levels = MakeNegatives(
      {"bernoulli", {{"epsilon", std::vector{0.4, 0.2}}, {"epsilon_end", std::vector{0.1, 0.2}}}}, rows);
  EXPECT_EQ(FilledAt(*levels, 0).rows, plain("bernoulli", {0.4, 0.2}));
  EXPECT_EQ(FilledAt(*levels, 1).rows, plain("bernoulli", {0.1, 0.2}));
}

TEST(AnnealedNoise, DescribeTellsTheLevel) {
  const auto level = [](const NegativeSource& source, double progress) {
    return std::get<std::vector<double>>(source.Describe(progress).at("epsilon"));
  };
  const RowContext rows{.dimension = 4};
  const auto annealed = MakeNegatives({"bernoulli", {{"epsilon", 0.4}, {"epsilon_end", 0.1}}}, rows);
  EXPECT_EQ(level(*annealed, 0), std::vector{0.4});
  EXPECT_EQ(level(*annealed, 0.5), std::vector{0.2});
  EXPECT_EQ(level(*annealed, 1), std::vector{0.1});
  const auto constant = MakeNegatives({"bernoulli", {{"epsilon", 0.4}}}, rows);
  EXPECT_EQ(level(*constant, 0), std::vector{0.4});
  EXPECT_EQ(level(*constant, 1), std::vector{0.4});
}

TEST(AnnealedNoise, NeedsAnEndForEveryLevel) {
  const RowContext rows{.dimension = 4};
  ExpectRefusal({"bernoulli", {{"epsilon", std::vector{0.1, 0.2}}, {"epsilon_end", 0.1}}}, rows,
                "epsilon_end", "which has 2");
  ExpectRefusal({"bernoulli", {{"epsilon_end", 1.0}}}, rows, "epsilon_end", "(0, 1)");
}

}  // namespace
}  // namespace ort_ed
