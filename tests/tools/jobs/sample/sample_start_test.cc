#include "tools/jobs/sample/sample_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kDimension = 3;
constexpr uint64_t kSeed = 5;

class ChainStart : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) const {
    WriteBytes(dir_.File(name), text);
    return dir_.File(name);
  }

  SampleStart WithMask(const std::string& rows, const std::string& mask) const {
    return ReadSampleStart(File("init.csv", rows), File("mask.csv", mask), Variables::Binary(kDimension));
  }

  void ExpectBadMask(const std::string& mask, const std::string& message) const {
    ExpectError(
        ErrorCode::kBadData, [&] { WithMask("0,1,1\n1,0,0\n", mask); }, message);
  }

  TempDir dir_;
  BernoulliBase base_{std::vector<float>{0.2f, 0.5f, 0.7f}};
};

TEST_F(ChainStart, WithoutFilesIsDrawnFromTheBase) {
  const SampleStart start = ReadSampleStart({}, {}, Variables::Binary(kDimension));
  EXPECT_EQ(start.rows, 0);
  EXPECT_EQ(start.States(base_, 4, kSeed), base_.DrawRows(kSeed, 0, 4));
  EXPECT_THAT(start.Clamps(4), IsEmpty());
}

TEST_F(ChainStart, RowsAreTakenInTurn) {
  const SampleStart start =
      ReadSampleStart(File("init.csv", "0,1,1\n1,0,0\n"), {}, Variables::Binary(kDimension));
  EXPECT_EQ(start.rows, 2);
  EXPECT_THAT(start.States(base_, 3, kSeed), ElementsAre(0, 1, 1, 1, 0, 0, 0, 1, 1));
  EXPECT_THAT(start.Clamps(3), IsEmpty());
}

TEST_F(ChainStart, RowsMustHaveTheWidthOfTheModel) {
  ExpectError(
      ErrorCode::kBadData,
      [&] { ReadSampleStart(File("init.csv", "0,1\n"), {}, Variables::Binary(kDimension)); }, "init.csv");
}

TEST_F(ChainStart, OneMaskIsForAllChains) {
  const SampleStart start = WithMask("0,1,1\n1,0,0\n", "1,0,1\n");
  EXPECT_THAT(start.Clamps(5), ElementsAre(1, 0, 1));
  EXPECT_THAT(start.States(base_, 2, kSeed), ElementsAre(0, 1, 1, 1, 0, 0));
}

TEST_F(ChainStart, AMaskMayBeAColumn) {
  EXPECT_THAT(WithMask("0,1,1\n1,0,0\n", "1\n0\n1\n").Clamps(5), ElementsAre(1, 0, 1));
}

TEST_F(ChainStart, EveryRowMayHaveItsOwnMask) {
  EXPECT_THAT(WithMask("0,1,1\n1,0,0\n", "1,0,1\n0,0,1\n").Clamps(3), ElementsAre(1, 0, 1, 0, 0, 1, 1, 0, 1));
}

TEST_F(ChainStart, OtherMasksAreRefused) {
  ExpectBadMask("1,0,1\n0,0,1\n0,0,0\n", "has 3 rows of 3 values");
  ExpectBadMask("1,0\n", "has 1 rows of 2 values");
  ExpectBadMask("1,1,1\n", "keeps every value, so there is nothing to sample");
}

TEST_F(ChainStart, MissingValuesAreDrawnAndTheOthersKept) {
  const SampleStart start =
      ReadSampleStart({}, File("holes.csv", "1,,0\n,,1\n"), Variables::Binary(kDimension));
  EXPECT_EQ(start.rows, 2);
  EXPECT_THAT(start.Clamps(3), ElementsAre(1, 0, 1, 0, 0, 1, 1, 0, 1));
  const std::vector<float> drawn = base_.DrawRows(kSeed, 0, 3);
  EXPECT_THAT(start.States(base_, 3, kSeed),
              ElementsAre(1, drawn[1], 0, drawn[3], drawn[4], 1, 1, drawn[7], 0));
}

TEST_F(ChainStart, WithoutMissingValuesThereIsNothingToSample) {
  ExpectError(
      ErrorCode::kBadData,
      [&] { ReadSampleStart({}, File("full.csv", "1,1,0\n"), Variables::Binary(kDimension)); },
      "full.csv' has no missing value, so there is nothing to sample", "give the rows that it belongs to");
}

}  // namespace
}  // namespace ort_ed
