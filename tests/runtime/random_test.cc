#include "ort_ed/random.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace ort_ed {
namespace {

// Known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, MatchesThePublishedKnownAnswers) {
  EXPECT_EQ(Philox(0, {0, 0, 0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~uint64_t{0}, {~0u, ~0u, ~0u, ~0u}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(uint64_t{0x299f31d0} << 32 | 0xa4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, DependsOnEachPartOfItsAddress) {
  const uint64_t base = RandomStream(1, 2, 3, 4).Next64();
  EXPECT_EQ(base, RandomStream(1, 2, 3, 4).Next64());
  EXPECT_NE(base, RandomStream(9, 2, 3, 4).Next64());
  EXPECT_NE(base, RandomStream(1, 9, 3, 4).Next64());
  EXPECT_NE(base, RandomStream(1, 2, 9, 4).Next64());
  EXPECT_NE(base, RandomStream(1, 2, 3, 9).Next64());
  EXPECT_NE(base, RandomStream(1, 2, 3 + (uint64_t{1} << 32), 4).Next64());
}

TEST(RandomStream, BelowIsUniform) {
  constexpr int kDraws = 60000;
  constexpr uint32_t kFaces = 6;
  std::vector<int> counts(kFaces);
  RandomStream random(7, 1, 0, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(kFaces)];
  const double expected = double{kDraws} / kFaces;
  double chi_square = 0;
  for (int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 20.5);  // 0.999 quantile with 5 degrees of freedom
}

TEST(RandomStream, UniformStaysBelowOneWithTheRightMean) {
  constexpr int kDraws = 100000;
  RandomStream random(7, 2, 0, 0);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const float u = random.Uniform();
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 4 / std::sqrt(12.0 * kDraws));
}

// Mean, variance and fourth moment of N(0,1) are 0, 1 and 3; their estimates have variances 1/n, 2/n, 96/n.
TEST(RandomStream, NormalHasTheMomentsOfTheStandardNormal) {
  constexpr int kDraws = 100000;
  RandomStream random(7, 3, 0, 0);
  double first = 0, second = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.Normal();
    first += z / kDraws;
    second += z * z / kDraws;
    fourth += z * z * z * z / kDraws;
  }
  EXPECT_NEAR(first, 0, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(second, 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / kDraws));
}

}  // namespace
}  // namespace ort_ed
