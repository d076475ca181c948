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

// What a user waits for is at the end of the line: the bar gives its place first, then the rate.
TEST(Progress, WhatTheLineIsForIsSeenInNarrowTerminals) {
  const ProgressParts parts{.what = "training ",
                            .fraction = 0.5,
                            .count = "50% 200/400 steps",
                            .rate = ", 24.5 steps/s",
                            .left = ", ETA 15s",
                            .details = ", loss 0.0010, validation nats 9.3384"};
  const std::string bar = "[############            ] ",
                    end = ", ETA 15s, loss 0.0010, validation nats 9.3384";
  EXPECT_EQ(FitToWidth(parts, 200), "training " + bar + "50% 200/400 steps, 24.5 steps/s" + end);
  EXPECT_EQ(FitToWidth(parts, 98), "training [####    ] 50% 200/400 steps, 24.5 steps/s" + end);
  EXPECT_EQ(FitToWidth(parts, 88), "training 50% 200/400 steps, 24.5 steps/s" + end);
  EXPECT_EQ(FitToWidth(parts, 80), "training [##  ] 50% 200/400 steps" + end);
  EXPECT_EQ(FitToWidth(parts, 75), "training 50% 200/400 steps" + end);
  EXPECT_EQ(FitToWidth(parts, 20), "training 50% 200/40");
}

TEST(Progress, TheLineFitsTheTerminal) {
  EXPECT_EQ(CutToWidth("12345", 6), "12345");
  EXPECT_EQ(CutToWidth("12345", 5), "1234");
  EXPECT_EQ(CutToWidth("\xc3\xa4\xc3\xb6\xc3\xbc", 3), "\xc3\xa4\xc3\xb6");
}

}  // namespace
}  // namespace ort_ed
