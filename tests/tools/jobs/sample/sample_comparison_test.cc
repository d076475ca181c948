#include "tools/jobs/sample/sample_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/sampler/small_autoregressive.h"

namespace ort_ed {
namespace {

using ::testing::Each;

constexpr int64_t kDimension = 6;

class Comparison : public ::testing::Test {
 protected:
  static std::optional<SampleComparison> Compare(const EnergyPath& path, const RowTable& data,
                                                 const OptionMap& options, uint64_t seed = 0) {
    Observer observer;
    return CompareSamples(path, data, MakeOptions<ComparisonOptions>(options), seed, /*threads=*/1, observer);
  }

  static void Check(const OptionMap& options, int64_t rows) {
    CheckComparison(MakeOptions<ComparisonOptions>(options), Constant(rows, 0));
  }

  static void ExpectRefused(const OptionMap& options, int64_t rows) {
    EXPECT_THROW(Check(options, rows), OptionError) << options.begin()->first << ", " << rows << " rows";
  }

  static RowTable Constant(int64_t rows, uint8_t value) {
    return {rows, kDimension, std::vector<uint8_t>(static_cast<size_t>(rows * kDimension), value)};
  }

  static RowTable FairCoins(int64_t rows) {
    RowTable table = Constant(rows, 0);
    RandomStream random(9, 1, 0, 0);
    for (uint8_t& value : table.values) value = static_cast<uint8_t>(random.Next32() & 1);
    return table;
  }

  static EnergyPath Independent(double field) {
    return EnergyPath(std::make_shared<QuadraticEnergy>(0, std::vector<double>(kDimension, field),
                                                        std::vector<double>(kDimension * kDimension)));
  }

  const EnergyPath coins_ = Independent(0);
  const EnergyPath zeros_ = Independent(200);  // the state of zeros has all the probability
};

TEST_F(Comparison, IsNotMadeWithoutSamples) {
  EXPECT_FALSE(Compare(coins_, FairCoins(10), {{"samples", 0}}));
  EXPECT_NO_THROW(Check({{"samples", 0}}, 1));
  ExpectRefused({{"samples", 0}, {"steps", 5}}, 10);
}

TEST_F(Comparison, MovesByDrawsOfALearnedBaseUnlessASamplerIsNamed) {
  const auto sampler = [&](const EnergyPath& path, OptionMap options) {
    options.insert({{"samples", 20}, {"steps", 4}});
    return Compare(path, FairCoins(20), options)->sampler;
  };
  const EnergyPath learned(coins_.energy, SmallAutoregressive(kDimension, {8}, 1));
  EXPECT_EQ(sampler(learned, {}), "refill");
  EXPECT_EQ(sampler(learned, {{"sampler", "gibbs"}}), "gibbs");
  EXPECT_EQ(sampler(learned, {{"updates", 3}}), "gibbs");  // an option of gibbs
  EXPECT_EQ(sampler(coins_, {}), "gibbs");
}

TEST_F(Comparison, RefusesWhatCannotBeCompared) {
  EXPECT_NO_THROW(Check({{"samples", 2}}, 2));
  ExpectRefused({{"samples", 1}}, 10);
  ExpectRefused({{"samples", 2}}, 1);
  ExpectRefused({{"samples", -1}}, 10);
  ExpectRefused({{"sample_sets", 0}}, 10);
  ExpectRefused({{"steps", 0}}, 10);
  ExpectRefused({{"thin", 0}}, 10);
  ExpectRefused({{"mmd_null", -1}}, 10);
}

TEST_F(Comparison, TellsAModelThatFitsFromOneThatDoesNot) {
  const OptionMap options = {{"samples", 200}, {"steps", 4}, {"mmd_null", 200}};
  const auto fits = Compare(coins_, FairCoins(200), options);
  ASSERT_TRUE(fits && fits->null);
  EXPECT_LT(fits->null->low, fits->null->high);
  EXPECT_LT(fits->hamming, 2 * fits->null->high);
  const auto misses = Compare(coins_, Constant(200, 0), options);
  ASSERT_TRUE(misses && misses->null);
  EXPECT_GT(misses->hamming, 10 * misses->null->high);
  EXPECT_GT(misses->linear, 0);
}

TEST_F(Comparison, KeepsTheEnergiesOfTheFirstSet) {
  const auto result = Compare(zeros_, FairCoins(20), {{"samples", 7}, {"sample_sets", 3}, {"steps", 4}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->samples, 7);
  EXPECT_EQ(result->sets, 3);
  EXPECT_EQ(result->energies.size(), 7u);
  EXPECT_THAT(result->energies, Each(0.0));
  EXPECT_FALSE(result->null);
}

TEST_F(Comparison, EverySetHasRowsOfItsOwnWhereThereAreEnough) {
  const auto hamming = [&](const RowTable& data, const std::string& sets) {
    return Compare(zeros_, data, {{"samples", 10}, {"sample_sets", sets}, {"steps", 4}})->hamming;
  };
  RowTable halves = Constant(20, 0);  // zeros for the first set, ones for the second
  std::fill(halves.values.begin() + 10 * kDimension, halves.values.end(), uint8_t{1});
  const double far = hamming(Constant(10, 1), "1");
  EXPECT_NEAR(hamming(Constant(10, 0), "1"), 0, 1e-12);
  EXPECT_GT(far, 0.1);
  EXPECT_NEAR(hamming(halves, "2"), far / 2, 1e-12);
  EXPECT_GT(std::abs(hamming(halves, "3") - far / 2), 1e-3);  // too few: each set takes all
}

TEST_F(Comparison, IsTheSameWithTheSameSeed) {
  const auto hamming = [&](uint64_t seed) {
    return Compare(coins_, FairCoins(50), {{"samples", 50}, {"steps", 4}}, seed)->hamming;
  };
  EXPECT_EQ(hamming(1), hamming(1));
  EXPECT_NE(hamming(1), hamming(2));
}

TEST_F(Comparison, StopsWhereTheObserverAsks) {
  struct Impatient : Observer {
    bool StopRequested() override { return true; }
  } observer;
  EXPECT_THROW(CompareSamples(coins_, FairCoins(10), {.samples = 5}, 0, 1, observer), Error);
}

}  // namespace
}  // namespace ort_ed
