#include "tools/jobs/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using Bits = std::vector<uint8_t>;

Bits DrawRow(RowSource& source, int64_t n) {
  Bits bits(static_cast<size_t>(source.columns()));
  source.Draw(n, bits);
  return bits;
}

std::vector<Bits> DrawRows(RowSource& source, int64_t first, int64_t count) {
  std::vector<Bits> rows;
  for (int64_t n = first; n < first + count; ++n) rows.push_back(DrawRow(source, n));
  return rows;
}

// Row i spells i in binary: 7 columns, so that rows are not whole bytes.
Bits Spelled(int i) {
  Bits bits;
  for (int bit = 6; bit >= 0; --bit) bits.push_back(static_cast<uint8_t>(i >> bit & 1));
  return bits;
}

int64_t Value(std::span<const uint8_t> bits) {
  int64_t value = 0;
  for (const uint8_t bit : bits) value = 2 * value + bit;
  return value;
}

std::set<int64_t> Values(const std::vector<Bits>& rows) {
  std::set<int64_t> values;
  for (const Bits& row : rows) values.insert(Value(row));
  return values;
}

class DatasetTest : public ::testing::Test {
 protected:
  std::string WriteSpelled(const std::string& name, int begin, int end) {
    const std::string path = dir_.File(name);
    std::ofstream file(path);
    for (int i = begin; i < end; ++i) {
      const Bits bits = Spelled(i);
      for (size_t k = 0; k < bits.size(); ++k) file << (k ? "," : "") << int{bits[k]};
      file << "\n";
    }
    return path;
  }

  TrainConfig Config(double validation_fraction = 0) {
    TrainConfig config;
    config.data = WriteSpelled("rows.csv", 0, 100);
    config.validation_fraction = validation_fraction;
    config.seed = 3;
    return config;
  }

  TempDir dir_;
};

TEST_F(DatasetTest, EveryEpochVisitsEveryRowOnceInANewOrder) {
  const Dataset dataset = OpenDataset(Config(), 0);
  EXPECT_EQ(dataset.training_rows, 100);
  EXPECT_EQ(dataset.validation.rows, 0);
  const auto first = DrawRows(*dataset.training, 0, 100);
  const auto second = DrawRows(*dataset.training, 100, 100);
  EXPECT_EQ(Values(first).size(), 100u);
  EXPECT_EQ(Values(second).size(), 100u);
  EXPECT_NE(first, second);
}

TEST_F(DatasetTest, RowsDependOnSeedAndNumberAlone) {
  const auto in_order = DrawRows(*OpenDataset(Config(), 0).training, 0, 350);
  const Dataset again = OpenDataset(Config(), 0);
  for (const int64_t n : {349, 120, 3, 299, 0, 121}) EXPECT_EQ(DrawRow(*again.training, n), in_order[n]) << n;
  TrainConfig other = Config();
  other.seed = 4;
  EXPECT_NE(DrawRows(*OpenDataset(other, 0).training, 0, 350), in_order);
}

TEST_F(DatasetTest, HeldOutRowsAreNeverTrainedOn) {
  const Dataset dataset = OpenDataset(Config(0.25), 0);
  EXPECT_EQ(dataset.training_rows, 75);
  ASSERT_EQ(dataset.validation.rows, 25);
  std::set<int64_t> all = Values(DrawRows(*dataset.training, 0, 75));
  EXPECT_EQ(all.size(), 75u);
  for (int64_t i = 0; i < 25; ++i) EXPECT_TRUE(all.insert(Value(dataset.validation.Row(i))).second);
  EXPECT_EQ(Values(DrawRows(*dataset.training, 0, 300)).size(), 75u);
}

TEST_F(DatasetTest, MeanIsThatOfTheTrainingRows) {
  const Dataset dataset = OpenDataset(Config(0.5), 0);
  std::vector<double> mean(7);
  for (const Bits& row : DrawRows(*dataset.training, 0, 50))
    for (size_t i = 0; i < 7; ++i) mean[i] += row[i] / 50.0;
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(dataset.mean[i], mean[i], 1e-12);
}

TEST_F(DatasetTest, RowsThatAreNotValidatedOnAreTrainedOn) {
  TrainConfig config = Config(0.5);
  config.validation_rows = 10;
  const Dataset dataset = OpenDataset(config, 0);
  EXPECT_EQ(dataset.validation.rows, 10);
  EXPECT_EQ(dataset.training_rows, 90);
}

TEST_F(DatasetTest, ValidationFileIsShuffledAndCut) {
  TrainConfig config = Config(0.5);
  config.validation = WriteSpelled("valid.csv", 0, 128);
  config.validation_rows = 64;
  const Dataset dataset = OpenDataset(config, 7);
  EXPECT_EQ(dataset.training_rows, 100);
  ASSERT_EQ(dataset.validation.rows, 64);
  std::set<int64_t> values;
  for (int64_t i = 0; i < 64; ++i) values.insert(Value(dataset.validation.Row(i)));
  EXPECT_EQ(values.size(), 64u);
  EXPECT_GT(*values.rbegin(), 63);
}

TEST_F(DatasetTest, HashTellsContents) {
  const std::string hash = OpenDataset(Config(), 0).hash;
  EXPECT_EQ(OpenDataset(Config(0.3), 0).hash, hash);
  TrainConfig other = Config();
  other.data = WriteSpelled("other.csv", 1, 101);
  EXPECT_NE(OpenDataset(other, 0).hash, hash);
}

class GreyDataTest : public ::testing::Test {
 protected:
  static constexpr int kRows = 2000;

  TrainConfig Config(const std::string& binarise) {
    TrainConfig config;
    config.data = dir_.File("grey.csv");
    std::ofstream file(config.data);
    for (int i = 0; i < kRows; ++i) file << "0,51,204,255\n";
    config.validation_fraction = 0.5;
    config.validation_rows = kRows;
    config.binarise = binarise;
    return config;
  }

  TempDir dir_;
};

TEST_F(GreyDataTest, DynamicRowsAreDrawnAnewInEveryEpoch) {
  const Dataset dataset = OpenDataset(Config("dynamic"), 4);
  const int64_t rows = dataset.training_rows;
  const auto first = DrawRows(*dataset.training, 0, rows);
  EXPECT_EQ(DrawRows(*dataset.training, 0, rows), first);
  EXPECT_NE(DrawRows(*dataset.training, rows, rows), first);
  EXPECT_NEAR(dataset.mean[1], 0.2, 1e-12);
  EXPECT_NEAR(dataset.mean[2], 0.8, 1e-12);
  double ones = 0;
  for (const auto& row : first) {
    EXPECT_EQ(row[0], 0);
    EXPECT_EQ(row[3], 1);
    ones += row[1];
  }
  EXPECT_NEAR(ones / static_cast<double>(rows), 0.2, 5 * std::sqrt(0.2 * 0.8 / static_cast<double>(rows)));
  for (int64_t i = 0; i < dataset.validation.rows; ++i)
    for (const uint8_t bit : dataset.validation.Row(i)) EXPECT_LE(bit, 1);
}

TEST_F(GreyDataTest, OnceKeepsItsBits) {
  const Dataset dataset = OpenDataset(Config("once"), 4);
  const auto count = [&](int64_t first) {
    int64_t ones = 0;
    for (const auto& row : DrawRows(*dataset.training, first, dataset.training_rows)) ones += row[1];
    return ones;
  };
  EXPECT_EQ(count(0), count(dataset.training_rows));
  EXPECT_GT(count(0), 0);
}

TEST_F(GreyDataTest, StrictRefusesGrey) {
  ExpectError(
      ErrorCode::kBadData, [&] { OpenDataset(Config("strict"), 4); }, "grey.csv");
}

TEST_F(DatasetTest, WrongWidthAndMissingDataAreErrors) {
  ExpectError(
      ErrorCode::kBadData, [&] { OpenDataset(Config(), 8); }, "rows.csv");
  TrainConfig config = Config();
  config.validation = dir_.File("narrow.csv");
  std::ofstream(config.validation) << "0,1\n1,1\n";
  ExpectError(
      ErrorCode::kBadData, [&] { OpenDataset(config, 0); }, "narrow.csv");
  config.data = "";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { OpenDataset(config, 0); }, "name a file of rows");
}

TEST(SyntheticDataset, PlanarRowsAreEndlessAndHeldOutRowsAreOthers) {
  TrainConfig config;
  config.data = "synth:pinwheel";
  config.validation_rows = 50;
  const Dataset dataset = OpenDataset(config, 0);
  EXPECT_EQ(dataset.training_rows, 0);
  ASSERT_EQ(dataset.training->columns(), 32);
  const auto rows = DrawRows(*dataset.training, 0, 1000);
  EXPECT_EQ(DrawRow(*OpenDataset(config, 32).training, 999), rows[999]);
  const std::set<int64_t> seen = Values(rows);
  EXPECT_GT(seen.size(), 990u);
  ASSERT_EQ(dataset.validation.rows, 50);
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_FALSE(seen.contains(Value(dataset.validation.Row(i))));
  }
  ASSERT_EQ(dataset.mean.size(), 32u);
  for (const double mean : dataset.mean) EXPECT_TRUE(mean >= 0 && mean <= 1);
}

TEST(SyntheticDataset, MistakesAreNamed) {
  TrainConfig config;
  config.data = "synth:spiral";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { OpenDataset(config, 0); }, "synth:spiral", "synth:2spirals",
      "synth:pinwheel");
  config.data = "synth:moons";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { OpenDataset(config, 16); },
      "32 variables, not the 16 that are needed");
}

TEST_F(DatasetTest, HookMakesRowsThatNeedASampler) {
  TrainConfig config = Config(0.5);
  config.data = "synth:ising:side=3";
  const auto hook = [](const std::string& name, uint64_t seed) {
    EXPECT_EQ(name, "ising:side=3");
    EXPECT_EQ(seed, 3u);
    RowStore store(7, false);
    for (int i = 0; i < 100; ++i) store.Append(Spelled(i));
    return store;
  };
  const Dataset dataset = OpenDataset(config, 0, hook);
  EXPECT_EQ(dataset.training_rows, 50);
  EXPECT_EQ(dataset.validation.rows, 50);
}

}  // namespace
}  // namespace ort_ed
