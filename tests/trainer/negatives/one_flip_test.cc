// Neighbours by one flip: which there are, and that sums over drawn ones estimate those over all.

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"
#include "tests/support/error_matchers.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 7;

RowContext Rows() { return {.dimension = kDimension}; }

ContrastiveBatch Fill(NegativeSource& source, const EnergyFunction* energy, int64_t positives, int64_t step) {
  const NegativeSource::Shape shape = source.shape(4);
  ContrastiveBatch batch(positives, shape.negatives, kDimension, shape.weighted);
  for (int64_t i = 0; i < positives; ++i)
    for (int64_t k = 0; k < kDimension; ++k) batch.Positive(i)[k] = 5 >> (k % 3) & 1;
  source.Fill({.seed = 3, .step = step, .energy = energy}, batch);
  return batch;
}

// The variable in which negative j of a row differs from it; there is one.
int64_t Site(ContrastiveBatch& batch, int64_t row, int64_t j) {
  int64_t site = -1, changes = 0;
  for (int64_t k = 0; k < kDimension; ++k)
    if (batch.Negatives(row)[j * kDimension + k] != batch.Positive(row)[k]) site = k, ++changes;
  EXPECT_EQ(changes, 1);
  return site;
}

TEST(OneFlip, AllNeighboursWithoutWeights) {
  for (const char* method : {"ratio-matching", "concrete-score"}) {
    const auto source = MakeNegatives(method, Rows());
    ContrastiveBatch batch = Fill(*source, nullptr, 2, 0);
    EXPECT_EQ(batch.negatives, kDimension);
    EXPECT_TRUE(batch.log_weights.empty());
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < kDimension; ++j) EXPECT_EQ(Site(batch, i, j), j);
    EXPECT_NE(&source->validation(), source.get());
  }
}

TEST(OneFlip, DrawnOnesAreDistinct) {
  const auto source = MakeNegatives({"concrete-score", {{"sites", 4}}}, Rows());
  ContrastiveBatch batch = Fill(*source, nullptr, 50, 0);
  for (int64_t i = 0; i < 50; ++i) {
    std::set<int64_t> sites;
    for (int64_t j = 0; j < 4; ++j) sites.insert(Site(batch, i, j));
    EXPECT_EQ(sites.size(), 4u);
    EXPECT_FLOAT_EQ(batch.LogWeights(i)[1], std::log(7.0f / 4));
  }
  EXPECT_NE(batch.rows, Fill(*source, nullptr, 50, 1).rows);
  EXPECT_EQ(batch.rows, Fill(*source, nullptr, 50, 0).rows);
}

class Estimates : public testing::TestWithParam<Choice> {};

// The mean of sum_j omega_j [site j = k] is 1 for every k: so are all sums over sites estimated without bias.
TEST_P(Estimates, SumsWithoutBias) {
  const auto energy = MlpEnergy(kDimension, 5, 2);
  const auto source = MakeNegatives(GetParam(), Rows());
  constexpr int64_t kDraws = 20000;
  ContrastiveBatch batch = Fill(*source, energy.get(), kDraws, 0);
  std::vector<double> sums(kDimension), squares(kDimension);
  for (int64_t i = 0; i < kDraws; ++i) {
    std::vector<double> row(kDimension);
    for (int64_t j = 0; j < batch.negatives; ++j)
      row[Site(batch, i, j)] += std::exp(double{batch.LogWeights(i)[1 + j]});
    for (int64_t k = 0; k < kDimension; ++k) sums[k] += row[k], squares[k] += row[k] * row[k];
  }
  for (int64_t k = 0; k < kDimension; ++k) {
    const double mean = sums[k] / kDraws, variance = squares[k] / kDraws - mean * mean;
    EXPECT_GT(variance, 0);
    EXPECT_NEAR(mean, 1, 5 * std::sqrt(variance / kDraws)) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Choices, Estimates,
                         testing::Values(Choice("ratio-matching", {{"sites", 3}}),
                                         Choice("concrete-score", {{"sites", 1}}),
                                         Choice("ratio-matching", {{"sites", 3}, {"guided", true}}),
                                         Choice("ratio-matching", {{"sites", 7}, {"guided", true}})));

// With a linear energy the gradient tells differences exactly.
TEST(OneFlip, GuidedDrawsGoWhereTheLossIs) {
  const auto energy = std::make_shared<TestEnergy>(kDimension, [](const float* x, float* gradient) {
    double u = 0;
    for (int64_t k = 0; k < kDimension; ++k) {
      const double field = k == 2 ? 6 : -6;  // x_2 = 1 is unlikely, and so are zeros elsewhere
      u += field * x[k];
      gradient[k] = static_cast<float>(field);
    }
    return u;
  });
  const auto source = MakeNegatives({"ratio-matching", {{"sites", 1}, {"guided", true}}}, Rows());
  ContrastiveBatch batch(1000, 1, kDimension, true);
  for (int64_t i = 0; i < 1000; ++i) std::ranges::fill(batch.Positive(i), uint8_t{1});
  source->Fill({.seed = 1, .energy = energy.get()}, batch);
  int64_t hits = 0;
  for (int64_t i = 0; i < 1000; ++i) hits += Site(batch, i, 0) == 2;
  EXPECT_NEAR(hits / 1000.0, 0.8 + 0.2 / 7, 0.06);  // five standard deviations
}

TEST(OneFlip, SaysWhatItNeeds) {
  EXPECT_FALSE(MakeNegatives("ratio-matching", Rows())->needs().energy);
  const auto guided = MakeNegatives({"ratio-matching", {{"sites", 3}, {"guided", true}}}, Rows());
  EXPECT_TRUE(guided->needs().gradient);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Fill(*guided, nullptr, 1, 0); }, "energy");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        MakeNegatives({"ratio-matching", {{"sites", 8}}}, Rows());
      },
      "sites", "7 variables");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        MakeNegatives({"ratio-matching", {{"guided", true}}}, Rows());
      },
      "guided");
}

}  // namespace
}  // namespace ort_ed
