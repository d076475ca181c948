#include "tools/cli/progress.h"

#include <gtest/gtest.h>

namespace ort_ed {
namespace {

TEST(Progress, RatesHaveNoExponent) {
  EXPECT_EQ(RateText(0), "0");
  EXPECT_EQ(RateText(0.125), "0.125");
  EXPECT_EQ(RateText(99.96), "100");
  EXPECT_EQ(RateText(999.7), "1000");
  EXPECT_EQ(RateText(3220.4), "3220");
  EXPECT_EQ(RateText(51300), "51.3k");
  EXPECT_EQ(RateText(2e6), "2.0M");
}

TEST(Progress, TheLineFitsTheTerminal) {
  EXPECT_EQ(CutToWidth("12345", 6), "12345");
  EXPECT_EQ(CutToWidth("12345", 5), "1234");
  EXPECT_EQ(CutToWidth("\xc3\xa4\xc3\xb6\xc3\xbc", 3), "\xc3\xa4\xc3\xb6");
}

}  // namespace
}  // namespace ort_ed
