// Draws of a base as negatives of a whole step: their law, and that they depend on the step alone.

#include <gtest/gtest.h>

#include "tests/sampler/small_autoregressive.h"
#include "tests/sampler/test_energies.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 5;

RowContext SmallBase(const Variables& variables = Variables::Binary(kDimension)) {
  return {.dimension = kDimension,
          .variables = variables,
          .base = std::make_shared<const AutoregressiveBase>(MixtureTensors(variables, 2, {5}, 4))};
}

std::vector<uint8_t> NegativesOf(NegativeSource& source, int64_t step, uint64_t seed = 9) {
  ContrastiveBatch batch(6, 3, kDimension, false);
  source.Fill({.seed = seed, .step = step}, batch);
  return batch.rows;
}

// Five bits, as three variables.
Variables ThreeVariables() {
  return Variables({{.name = "a"},
                    {.name = "b", .kind = VariableKind::kNominal, .labels = {"x", "y", "z"}},
                    {.name = "c"}});
}

void ExpectLawOfTheBase(const RowContext& rows) {
  for (const double fresh : {1.0, 0.5}) {
    const auto source = MakeNegatives({"draws", {{"fresh", fresh}, {"kept", int64_t{1000}}}}, rows);
    std::map<uint32_t, double> counts;
    for (int64_t step = 0; step < 400; ++step) {
      ContrastiveBatch batch(50, 2, kDimension, false);
      source->Fill({.seed = 3, .step = step}, batch);
      // Those that are new are independent of one another, which the bound of the test asks for.
      const auto count = static_cast<int64_t>(fresh * 100);
      for (int64_t n = 0; n < count; ++n) {
        const auto row = batch.Negatives(n / 2).subspan(static_cast<size_t>(n % 2 * kDimension), kDimension);
        const std::vector<float> bits(row.begin(), row.end());
        ++counts[StateNumber(bits)];
      }
    }
    ExpectLaw(counts, LawOf(*rows.base->autoregressive()), "fresh " + std::to_string(fresh));
  }
}

TEST(Draws, HaveTheLawOfTheBase) {
  ExpectLawOfTheBase(SmallBase());
  ExpectLawOfTheBase(SmallBase(ThreeVariables()));
}

// So that a run that is resumed goes on with the same ones.
TEST(Draws, DependOnTheStepAndNotOnTheStepsBefore) {
  const Choice method("draws", {{"fresh", 0.25}, {"kept", int64_t{40}}});
  const auto whole = MakeNegatives(method, SmallBase());
  for (int64_t step = 0; step < 30; ++step) {
    const auto anew = MakeNegatives(method, SmallBase());
    const std::vector<uint8_t> expected = NegativesOf(*whole, step);
    EXPECT_EQ(NegativesOf(*anew, step), expected) << step;
    NegativesOf(*whole, 0, /*seed=*/77);  // a validation in between changes nothing
  }
  EXPECT_NE(NegativesOf(*whole, 3), NegativesOf(*whole, 4));
}

TEST(Draws, NeedALearnedBase) {
  EXPECT_THROW(MakeNegatives({"draws"}, RowContext{.dimension = kDimension}), OptionError);
}

}  // namespace
}  // namespace ort_ed
