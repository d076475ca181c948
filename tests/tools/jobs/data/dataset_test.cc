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

constexpr uint64_t kSeed = 3;

Dataset Open(const DataOptions& options, int64_t columns, uint64_t seed = kSeed) {
  Observer nobody;
  return OpenDataset(options, seed, columns, nobody);
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

  DataOptions Options(double validation_fraction = 0) {
    DataOptions options;
    options.data = WriteSpelled("rows.csv", 0, 100);
    options.validation_fraction = validation_fraction;
    return options;
  }

  TempDir dir_;
};

TEST_F(DatasetTest, EveryEpochVisitsEveryRowOnceInANewOrder) {
  const Dataset dataset = Open(Options(), 0);
  EXPECT_EQ(dataset.training_rows, 100);
  EXPECT_EQ(dataset.validation.rows, 0);
  const auto first = DrawRows(*dataset.training, 0, 100);
  const auto second = DrawRows(*dataset.training, 100, 100);
  EXPECT_EQ(Values(first).size(), 100u);
  EXPECT_EQ(Values(second).size(), 100u);
  EXPECT_NE(first, second);
}

TEST_F(DatasetTest, RowsDependOnSeedAndNumberAlone) {
  const auto in_order = DrawRows(*Open(Options(), 0).training, 0, 350);
  const Dataset again = Open(Options(), 0);
  for (const int64_t n : {349, 120, 3, 299, 0, 121}) EXPECT_EQ(DrawRow(*again.training, n), in_order[n]) << n;
  EXPECT_NE(DrawRows(*Open(Options(), 0, kSeed + 1).training, 0, 350), in_order);
}

TEST_F(DatasetTest, HeldOutRowsAreNeverTrainedOn) {
  const Dataset dataset = Open(Options(0.25), 0);
  EXPECT_EQ(dataset.training_rows, 75);
  ASSERT_EQ(dataset.validation.rows, 25);
  std::set<int64_t> all = Values(DrawRows(*dataset.training, 0, 75));
  EXPECT_EQ(all.size(), 75u);
  for (int64_t i = 0; i < 25; ++i) EXPECT_TRUE(all.insert(Value(dataset.validation.Row(i))).second);
  EXPECT_EQ(Values(DrawRows(*dataset.training, 0, 300)).size(), 75u);
}

TEST_F(DatasetTest, MeanIsThatOfTheTrainingRows) {
  const Dataset dataset = Open(Options(0.5), 0);
  std::vector<double> mean(7);
  for (const Bits& row : DrawRows(*dataset.training, 0, 50))
    for (size_t i = 0; i < 7; ++i) mean[i] += row[i] / 50.0;
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(dataset.mean[i], mean[i], 1e-12);
}

TEST_F(DatasetTest, RowsThatAreNotValidatedOnAreTrainedOn) {
  DataOptions options = Options(0.5);
  options.validation_rows = 10;
  const Dataset dataset = Open(options, 0);
  EXPECT_EQ(dataset.validation.rows, 10);
  EXPECT_EQ(dataset.training_rows, 90);
}

TEST_F(DatasetTest, ValidationFileIsShuffledAndCut) {
  DataOptions options = Options(0.5);
  options.validation = WriteSpelled("valid.csv", 0, 128);
  options.validation_rows = 64;
  const Dataset dataset = Open(options, 7);
  EXPECT_EQ(dataset.training_rows, 100);
  ASSERT_EQ(dataset.validation.rows, 64);
  std::set<int64_t> values;
  for (int64_t i = 0; i < 64; ++i) values.insert(Value(dataset.validation.Row(i)));
  EXPECT_EQ(values.size(), 64u);
  EXPECT_GT(*values.rbegin(), 63);
}

TEST_F(DatasetTest, HashTellsContents) {
  const std::string hash = Open(Options(), 0).hash;
  EXPECT_EQ(Open(Options(0.3), 0).hash, hash);
  DataOptions other = Options();
  other.data = WriteSpelled("other.csv", 1, 101);
  EXPECT_NE(Open(other, 0).hash, hash);
}

class GreyDataTest : public ::testing::Test {
 protected:
  static constexpr int kRows = 2000;

  DataOptions Options(Binarise binarise) {
    DataOptions options;
    options.data = dir_.File("grey.csv");
    std::ofstream file(options.data);
    for (int i = 0; i < kRows; ++i) file << "0,51,204,255\n";
    options.validation_fraction = 0.5;
    options.validation_rows = kRows;
    options.binarise = binarise;
    return options;
  }

  TempDir dir_;
};

TEST_F(GreyDataTest, DynamicRowsAreDrawnAnewInEveryEpoch) {
  const Dataset dataset = Open(Options(Binarise::kGrey), 4);
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
  const Dataset dataset = Open(Options(Binarise::kStochastic), 4);
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
      ErrorCode::kBadData, [&] { Open(Options(Binarise::kStrict), 4); }, "grey.csv");
}

TEST_F(DatasetTest, WrongWidthAndMissingDataAreErrors) {
  ExpectError(
      ErrorCode::kBadData, [&] { Open(Options(), 8); }, "rows.csv");
  DataOptions options = Options();
  options.validation = dir_.File("narrow.csv");
  std::ofstream(options.validation) << "0,1\n1,1\n";
  ExpectError(
      ErrorCode::kBadData, [&] { Open(options, 0); }, "narrow.csv");
  options.data = "";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Open(options, 0); }, "name a file of rows");
}

TEST(SyntheticDataset, PlanarRowsAreEndlessAndHeldOutRowsAreOthers) {
  DataOptions options;
  options.data = "synth:pinwheel";
  options.validation_rows = 50;
  const Dataset dataset = Open(options, 0);
  EXPECT_EQ(dataset.training_rows, 0);
  ASSERT_EQ(dataset.training->columns(), 32);
  const auto rows = DrawRows(*dataset.training, 0, 1000);
  EXPECT_EQ(DrawRow(*Open(options, 32).training, 999), rows[999]);
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
  DataOptions options;
  options.data = "synth:spiral";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Open(options, 0); }, "synth:spiral", "synth:2spirals",
      "synth:pinwheel");
  options.data = "synth:moons";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Open(options, 16); }, "32 variables, not the 16 that are needed");
}

TEST(SyntheticDataset, RowsOfASamplerAreSplitAsThoseOfAFile) {
  DataOptions options;
  options.data = "synth:ising:shape=2x3,rows=40,steps=60";
  options.validation_fraction = 0.5;
  const Dataset dataset = Open(options, 6);
  EXPECT_EQ(dataset.training_rows, 20);
  EXPECT_EQ(dataset.validation.rows, 20);
  EXPECT_EQ(dataset.training->columns(), 6);
  EXPECT_EQ(Open(options, 0).hash, dataset.hash);
  EXPECT_NE(Open(options, 0, kSeed + 1).hash, dataset.hash);
}

class RowsInMemoryTest : public DatasetTest {
 protected:
  // 50 rows of 7 grey levels, and the same as a file.
  RowTable Grey() {
    RowTable table{.rows = 50, .columns = 7, .values = {}};
    for (int i = 0; i < 350; ++i) table.values.push_back(static_cast<uint8_t>(i * 37 % 256));
    return table;
  }
  std::string Written(const RowTable& table) {
    const std::string path = dir_.File("grey.npy");
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (50, 7), }";
    header.resize(118 - 1, ' ');
    header += '\n';
    std::ofstream(path, std::ios::binary) << "\x93NUMPY\x01" << '\0' << '\x76' << '\0' << header
                                          << std::string(table.values.begin(), table.values.end());
    return path;
  }
};

TEST_F(RowsInMemoryTest, AreThoseOfAFile) {
  for (const Binarise binarise : {Binarise::kThreshold, Binarise::kStochastic, Binarise::kGrey}) {
    DataOptions options;
    options.data = Written(Grey());
    options.binarise = binarise;
    options.threshold = 0.3;
    const Dataset file = Open(options, 0);
    const Dataset memory = DatasetFromRows(Grey(), options, kSeed);
    EXPECT_EQ(memory.hash, file.hash);
    EXPECT_EQ(memory.mean, file.mean);
    EXPECT_EQ(memory.validation.values, file.validation.values);
    EXPECT_EQ(DrawRows(*memory.training, 0, 90), DrawRows(*file.training, 0, 90));
  }
}

TEST_F(RowsInMemoryTest, MistakesAreNamed) {
  ExpectError(
      ErrorCode::kBadData, [&] { DatasetFromRows(Grey(), {}, kSeed); }, "row 1, column 2 is 37");
  ExpectError(
      ErrorCode::kBadData, [&] { DatasetFromRows({}, {}, kSeed); }, "no rows");
  DataOptions options;
  options.binarise = Binarise::kGrey;
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        DatasetFromRows({.rows = 2, .columns = 1, .values = {0, 1}}, options, kSeed);
      },
      "binarise is for grey levels");
}

TEST(DataOptions, ThresholdHasNoEffectWithoutBinarisation) {
  EXPECT_THROW(MakeOptions<DataOptions>({{"threshold", 0.4}}), OptionError);
  const auto options = MakeOptions<DataOptions>({{"threshold", 0.4}, {"binarise", "threshold"}});
  EXPECT_EQ(options.threshold, 0.4);
  EXPECT_EQ(SchemaOf<DataOptions>().Find("data")->section, "data");
  EXPECT_TRUE(SchemaOf<DataOptions>().Find("validation")->may_change);
}

}  // namespace
}  // namespace ort_ed
