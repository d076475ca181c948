#include "ort_ed/mmd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

std::vector<uint8_t> Rows(int64_t count, int64_t dimension, float p, uint64_t seed) {
  std::vector<uint8_t> rows(count * dimension);
  RandomStream random(seed, 1, 0, 0);
  for (uint8_t& bit : rows) bit = random.Bernoulli(p);
  return rows;
}

double Naive(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, int64_t d, bool linear) {
  const auto kernel = [&](const uint8_t* x, const uint8_t* y) {
    int distance = 0, product = 0;
    for (int64_t i = 0; i < d; ++i) {
      distance += x[i] != y[i];
      product += x[i] * y[i];
    }
    return linear ? product : std::exp(-0.1 * distance);
  };
  const auto mean = [&](const std::vector<uint8_t>& x, const std::vector<uint8_t>& y, bool same) {
    double sum = 0;
    int64_t pairs = 0;
    for (size_t i = 0; i < x.size(); i += d)
      for (size_t j = 0; j < y.size(); j += d) {
        if (same && i == j) continue;
        sum += kernel(&x[i], &y[j]);
        ++pairs;
      }
    return sum / static_cast<double>(pairs);
  };
  return mean(a, a, true) + mean(b, b, true) - 2 * mean(a, b, false);
}

TEST(SquaredMmd, MatchesTheDefinition) {
  for (int64_t d : {1, 32, 63, 64, 65, 130}) {
    const auto a = Rows(20, d, 0.3f, 1);
    const auto b = Rows(31, d, 0.5f, 2);
    EXPECT_NEAR(SquaredMmd(a, b, d), Naive(a, b, d, false), 1e-12) << d;
    EXPECT_NEAR(SquaredMmd(a, b, d, MmdKernel::kLinear), Naive(a, b, d, true), 1e-9) << d;
  }
}

// Two bits change where a variable goes to another of its states; that is one variable.
TEST(SquaredMmd, CountsVariablesAndNotTheirBits) {
  const Variables variables(
      {{.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "green", "blue"}},
       {.name = "on"},
       {.name = "side", .kind = VariableKind::kNominal, .labels = {"left", "right"}}});
  const auto rows = [&](int64_t count, uint64_t seed, std::vector<uint8_t>& numbers) {
    RandomStream random(seed, 1, 0, 0);
    std::vector<uint8_t> all(count * variables.dimension());
    for (int64_t row = 0; row < count; ++row)
      for (int64_t v = 0; v < variables.size(); ++v) {
        numbers.push_back(static_cast<uint8_t>(random.Below(static_cast<uint32_t>(variables.states(v)))));
        variables.SetState(&all[row * variables.dimension()], v, numbers.back());
      }
    return all;
  };
  std::vector<uint8_t> states_a, states_b;
  const auto a = rows(20, 1, states_a), b = rows(31, 2, states_b);
  EXPECT_NEAR(SquaredMmd(a, b, variables), Naive(states_a, states_b, variables.size(), false), 1e-12);
  EXPECT_NEAR(SquaredMmd(a, b, variables, MmdKernel::kLinear), Naive(a, b, variables.dimension(), true),
              1e-9);
  EXPECT_EQ(SquaredMmdOfShuffled(a, b, variables, 3, 1).size(), 3);
}

TEST(SquaredMmd, IsZeroInExpectationForOneDistribution) {
  double sum = 0, squares = 0;
  constexpr int kRepeats = 100;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double value = SquaredMmd(Rows(50, 16, 0.4f, 2 * repeat), Rows(50, 16, 0.4f, 2 * repeat + 1), 16);
    sum += value / kRepeats;
    squares += value * value / kRepeats;
  }
  EXPECT_NEAR(sum, 0, 4 * std::sqrt(squares / kRepeats));
}

TEST(SquaredMmd, DoesNotDependOnThreads) {
  const auto a = Rows(300, 40, 0.3f, 1);
  const auto b = Rows(300, 40, 0.5f, 2);
  EXPECT_EQ(SquaredMmd(a, b, 40, MmdKernel::kHamming, 0.1, 1),
            SquaredMmd(a, b, 40, MmdKernel::kHamming, 0.1, 4));
}

TEST(SquaredMmd, NeedsTwoRows) {
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { SquaredMmd(Rows(1, 4, 0.5f, 1), Rows(5, 4, 0.5f, 1), 4); },
      "two rows");
}

// The shuffled values scatter as fresh draws of one distribution do, and lie far below a real difference.
TEST(SquaredMmdOfShuffled, IsTheLawOfNoDifference) {
  constexpr int64_t kRows = 60, kDimension = 12, kRepeats = 400;
  const auto moments = [](const std::vector<double>& values) {
    double mean = 0, square = 0;
    for (double v : values) mean += v / static_cast<double>(values.size());
    for (double v : values) square += (v - mean) * (v - mean) / static_cast<double>(values.size());
    return std::pair(mean, std::sqrt(square));
  };
  std::vector<double> fresh;
  for (uint64_t i = 0; i < kRepeats; ++i)
    fresh.push_back(SquaredMmd(Rows(kRows, kDimension, 0.4f, 1000 + 2 * i),
                               Rows(kRows, kDimension, 0.4f, 1001 + 2 * i), kDimension));
  const auto a = Rows(kRows, kDimension, 0.4f, 1), b = Rows(kRows, kDimension, 0.4f, 2);
  const auto shuffled = SquaredMmdOfShuffled(a, b, kDimension, kRepeats, 3);
  ASSERT_EQ(shuffled.size(), kRepeats);
  const auto [fresh_mean, fresh_sd] = moments(fresh);
  const auto [mean, sd] = moments(shuffled);
  // Standard errors: sd / sqrt(400) of a mean, about 7 % of a standard deviation (the law is skewed).
  EXPECT_NEAR(mean, 0, 4 * fresh_sd / std::sqrt(kRepeats));
  EXPECT_NEAR(sd / fresh_sd, 1, 0.35);
  EXPECT_NE(shuffled[0], shuffled[1]);

  const auto other = Rows(kRows, kDimension, 0.7f, 4);
  const auto null = SquaredMmdOfShuffled(a, other, kDimension, 100, 5);
  EXPECT_GT(SquaredMmd(a, other, kDimension), *std::max_element(null.begin(), null.end()));
}

}  // namespace
}  // namespace ort_ed
