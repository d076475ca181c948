#include "runtime/data/row_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::string_literals;

template <typename T>
std::string Bytes(std::vector<T> values, bool big_endian = false) {
  std::string bytes;
  for (const T value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    if (big_endian) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

class RowReaderTest : public ::testing::Test {
 protected:
  RowTable ReadFile(const std::string& name, const std::string& bytes, const RowOptions& options = {}) {
    const std::string path = folder_.File(name);
    WriteBytes(path, bytes);
    return ReadRows(path, options);
  }

  TempDir folder_;
};

TEST_F(RowReaderTest, ReadsEveryTypeOfNpy) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"|b1", "\0\1\1\1\0\0"s},
      {"|u1", "\0\1\1\1\0\0"s},
      {"|i1", "\0\1\1\1\0\0"s},
      {"<u2", Bytes<uint16_t>({0, 1, 1, 1, 0, 0})},
      {">i2", Bytes<int16_t>({0, 1, 1, 1, 0, 0}, true)},
      {"<u4", Bytes<uint32_t>({0, 1, 1, 1, 0, 0})},
      {">i4", Bytes<int32_t>({0, 1, 1, 1, 0, 0}, true)},
      {"<u8", Bytes<uint64_t>({0, 1, 1, 1, 0, 0})},
      {"<i8", Bytes<int64_t>({0, 1, 1, 1, 0, 0})},
      {"<f4", Bytes<float>({0, 1, 1, 1, -0.0f, 0})},
      {">f8", Bytes<double>({0, 1, 1, 1, 0, 0}, true)},
  };
  for (const auto& [descr, values] : files) {
    for (int version = 1; version <= 3; ++version) {
      const RowTable table = ReadFile("x.npy", NpyFile(descr, "2, 3", values, version));
      EXPECT_EQ(table.rows, 2) << descr;
      EXPECT_EQ(table.columns, 3) << descr;
      EXPECT_THAT(table.values, ElementsAre(0, 1, 1, 1, 0, 0)) << descr;
    }
  }
}

TEST_F(RowReaderTest, TheFirstAxisCountsRowsAndTheOthersAreFlattened) {
  EXPECT_EQ(ReadFile("images.npy", NpyFile("|u1", "2, 2, 3", std::string(12, '\1'))).columns, 6);
  const RowTable vector = ReadFile("vector.npy", NpyFile("|u1", "3,", "\0\1\0"s));
  EXPECT_EQ(vector.rows, 3);
  EXPECT_EQ(vector.columns, 1);
}

TEST_F(RowReaderTest, AFortranVectorIsTheSameAsACVector) {
  const std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 3), }";
  EXPECT_THAT(ReadFile("x.npy", NpyFile(header, "\0\1\0"s)).values, ElementsAre(0, 1, 0));
}

TEST_F(RowReaderTest, ReadsPackedBitsByNameAndByWidth) {
  const std::string file = NpyFile("|u1", "2, 2", "\xA0\x80\x01\x00"s);
  const RowTable all = ReadFile("x.bits.npy", file);
  EXPECT_EQ(all.columns, 16);
  EXPECT_THAT(all.Row(0), ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0));
  for (const std::string name : {"x.bits.npy", "plain.npy"}) {
    const RowTable nine = ReadFile(name, file, {.columns = 9});
    EXPECT_THAT(nine.Row(0), ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 1));
    EXPECT_THAT(nine.Row(1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 0));
  }
}

TEST_F(RowReaderTest, ReadsIdxImages) {
  const std::string file = "\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\2"s + "\0\xFF\x80\x7F"s;
  const RowTable table = ReadFile("t10k-images-idx3-ubyte", file, {.binarise = Binarise::kThreshold});
  EXPECT_EQ(table.rows, 2);
  EXPECT_THAT(table.values, ElementsAre(0, 1, 1, 0));
}

TEST_F(RowReaderTest, ReadsTextInAllItsForms) {
  for (const std::string text : {
           "0,1,0\n1,1,0\n",
           "0,1,0\r\n1,1,0\r\n",
           "0,1,0\n1,1,0",
           "a,b,c\n0,1,0\n1,1,0\n",
           "\"a,1\",b,\"say \"\"c\"\"\"\n0,1,0\n1,1,0\n",
           "0,1,2\n0,1,0\n1,1,0\n",
           "1,2,3\n0,1,0\n1,1,0\n",
           "\xef\xbb\xbf"
           "0,1,0\n1,1,0\n",
           "# made by hand\n\n0,1,0\n\n1,1,0\n\n",
           "0\t1\t0\n1\t1\t0\n",
           "0;1;0\n1;1;0\n",
           "0 1 0 \n1  1 0 \n",
           "0, 1, 0\n1, 1, 0\n",
           "\"0\",\"1\",\"0\"\n\"1\",\"1\",\"0\"\n",
           "0.0,1.0,0\n1,+1,0e0\n",
       }) {
    const RowTable table = ReadFile("x.csv", text);
    EXPECT_EQ(table.columns, 3) << text;
    EXPECT_THAT(table.values, ElementsAre(0, 1, 0, 1, 1, 0)) << text;
  }
  EXPECT_THAT(ReadFile("one.csv", "1\n0\n1\n").values, ElementsAre(1, 0, 1));
}

TEST_F(RowReaderTest, TellsTheNamesOfTheColumns) {
  WriteBytes(folder_.File("x.csv"), "sick,\"age, over 60\"\n0,1\n");
  EXPECT_THAT(OpenRows(folder_.File("x.csv"))->column_names(), ElementsAre("sick", "age, over 60"));
  WriteBytes(folder_.File("y.csv"), "0,1\n");
  EXPECT_THAT(OpenRows(folder_.File("y.csv"))->column_names(), IsEmpty());
}

TEST_F(RowReaderTest, ReadsGzipOfEverythingAlsoInSeveralMembers) {
  const std::string csv = "0,1,0\n1,1,0\n";
  EXPECT_THAT(ReadFile("x.csv.gz", Gzip(csv)).values, ElementsAre(0, 1, 0, 1, 1, 0));
  EXPECT_THAT(ReadFile("no-name", Gzip("0,1,0\n") + Gzip("1,1,0\n")).values, ElementsAre(0, 1, 0, 1, 1, 0));
  EXPECT_EQ(ReadFile("x.bits.npy.gz", Gzip(NpyFile("|u1", "1, 2", "\1\2"))).columns, 16);
}

TEST_F(RowReaderTest, ReadsTheStandardInput) {
  const std::string path = folder_.File("in");
  WriteBytes(path, Gzip("0,1\n1,1\n"));
  ASSERT_NE(std::freopen(path.c_str(), "rb", stdin), nullptr);
  EXPECT_THAT(ReadRows("-").values, ElementsAre(0, 1, 1, 1));
}

TEST_F(RowReaderTest, BlocksOfAnySizeGiveTheSameRows) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kColumns = 37;
  std::string cells, packed, csv;
  std::vector<float> floats;
  for (int64_t row = 0; row < kRows; ++row) {
    std::string bytes(5, '\0');
    for (int64_t column = 0; column < kColumns; ++column) {
      const int bit = static_cast<int>((row * 7 + column * column) % 3 == 0);
      cells += static_cast<char>(bit);
      floats.push_back(static_cast<float>(bit));
      bytes[static_cast<size_t>(column / 8)] |= static_cast<char>(bit << (7 - column % 8));
      csv += std::to_string(bit) + (column + 1 == kColumns ? "\n" : ",");
    }
    packed += bytes;
  }
  WriteBytes(folder_.File("x.npy"), NpyFile("|u1", "1000, 37", cells));
  WriteBytes(folder_.File("f.npy"), NpyFile("<f4", "1000, 37", Bytes(floats)));
  WriteBytes(folder_.File("p.bits.npy.gz"), Gzip(NpyFile("|u1", "1000, 5", packed)));
  WriteBytes(folder_.File("x.csv"), csv);
  for (const std::string name : {"x.npy", "f.npy", "p.bits.npy.gz", "x.csv"}) {
    const auto reader = OpenRows(folder_.File(name), {.columns = kColumns});
    std::string all;
    for (int64_t size = 1;; size = size * 3 % 101) {
      std::vector<uint8_t> block(static_cast<size_t>(size * kColumns + 5));
      const int64_t count = reader->Read(block);
      ASSERT_LE(count, size);
      all.append(block.begin(), block.begin() + count * kColumns);
      if (count == 0) break;
    }
    EXPECT_EQ(all, cells) << name;
  }
}

TEST_F(RowReaderTest, ThresholdIsOneAtAndAboveTheLevel) {
  const RowOptions options{.binarise = Binarise::kThreshold, .threshold = 0.5f};
  EXPECT_THAT(ReadFile("u.npy", NpyFile("|u1", "1, 4", "\0\x7F\x80\xFF"s), options).values,
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ReadFile("f.npy", NpyFile("<f4", "1, 4", Bytes<float>({0, 0.49f, 0.5f, 1})), options).values,
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ReadFile("b.npy", NpyFile("|b1", "1, 2", "\0\1"s), options).values, ElementsAre(0, 1));
  EXPECT_THAT(ReadFile("b.bits.npy", NpyFile("|u1", "1, 1", "\x81"s), options).Row(0),
              ElementsAre(1, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(ReadFile("i.csv", "0,127,128,255\n", options).values, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ReadFile("f.csv", "0,0.4,0.5,1\n", options).values, ElementsAre(0, 0, 1, 1));
}

TEST_F(RowReaderTest, ThresholdThatFloatDoesNotHoldExactly) {
  const RowOptions options{.binarise = Binarise::kThreshold, .threshold = 0.4f};
  EXPECT_THAT(ReadFile("f.csv", "0,0.39,0.4,1\n", options).values, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ReadFile("i.csv", "0,101,102,255\n", options).values, ElementsAre(0, 0, 1, 1));
}

TEST_F(RowReaderTest, GreyGivesLevelsOf255) {
  const RowOptions options{.binarise = Binarise::kGrey};
  EXPECT_THAT(ReadFile("u.npy", NpyFile("|u1", "1, 4", "\0\x7F\x80\xFF"s), options).values,
              ElementsAre(0, 127, 128, 255));
  EXPECT_THAT(ReadFile("f.npy", NpyFile("<f8", "1, 3", Bytes<double>({0, 0.2, 1})), options).values,
              ElementsAre(0, 51, 255));
  EXPECT_THAT(ReadFile("b.bits.npy", NpyFile("|u1", "1, 1", "\x81"s), options).values,
              ElementsAre(255, 0, 0, 0, 0, 0, 0, 255));
  EXPECT_THAT(ReadFile("x.csv", "0,7,255\n10, 20,30.0\n99,100,0\n", options).values,
              ElementsAre(0, 7, 255, 10, 20, 30, 99, 100, 0));
}

// What is looked at to tell 0...1 from 0...255 ends inside a cell: after the first digits of 5.0e-01.
TEST_F(RowReaderTest, LevelsInScientificNotationAreNotMistakenForLevelsOf255) {
  std::string text;
  while (text.size() < (size_t{1} << 17)) text += "5.019607843137254832e-01 0.000000000000000000e+00\n";
  const RowTable table = ReadFile("g.txt", text, {.binarise = Binarise::kGrey});
  ASSERT_GT(table.rows, 2000);
  for (int64_t row = 0; row < table.rows; ++row) ASSERT_THAT(table.Row(row), ElementsAre(128, 0)) << row;
}

TEST_F(RowReaderTest, StochasticBinarisationIsReproducibleAndHasTheRightFrequencies) {
  constexpr int64_t kRows = 20000;
  std::string cells;
  for (int64_t row = 0; row < kRows; ++row) cells += "\x00\x40\xC0\xFF"s;
  WriteBytes(folder_.File("x.npy"), NpyFile("|u1", std::to_string(kRows) + ", 4", cells));
  const auto read = [&](uint64_t seed, uint64_t pass) {
    return ReadRows(folder_.File("x.npy"), {.binarise = Binarise::kStochastic, .seed = seed, .pass = pass});
  };
  const RowTable table = read(3, 0);
  EXPECT_EQ(table.values, read(3, 0).values);
  EXPECT_NE(table.values, read(3, 1).values);
  EXPECT_NE(table.values, read(4, 0).values);
  std::vector<double> ones(4);
  for (int64_t row = 0; row < kRows; ++row)
    for (size_t column = 0; column < 4; ++column) ones[column] += table.Row(row)[column];
  EXPECT_EQ(ones[0], 0);
  EXPECT_EQ(ones[3], kRows);
  for (const auto& [column, level] : {std::pair{1, 64 / 255.0}, std::pair{2, 192 / 255.0}})
    EXPECT_NEAR(ones[static_cast<size_t>(column)] / kRows, level, 4 * std::sqrt(level * (1 - level) / kRows));
  // Any row can be drawn by itself.
  std::vector<uint8_t> bits(4);
  BinariseGrey(std::vector<uint8_t>{0, 64, 192, 255}, 3, 0, 1234, bits);
  EXPECT_EQ(bits, std::vector<uint8_t>(table.Row(1234).begin(), table.Row(1234).end()));
}

TEST_F(RowReaderTest, StochasticBinarisationOfFloatsHasTheRightFrequency) {
  constexpr int kRows = 20000;
  WriteBytes(folder_.File("f.npy"),
             NpyFile("<f4", std::to_string(kRows) + ", 1", Bytes(std::vector<float>(kRows, 0.3f))));
  const RowTable table = ReadRows(folder_.File("f.npy"), {.binarise = Binarise::kStochastic, .seed = 1});
  const double mean = std::accumulate(table.values.begin(), table.values.end(), 0.0) / kRows;
  EXPECT_NEAR(mean, 0.3, 4 * std::sqrt(0.3 * 0.7 / kRows));
}

TEST_F(RowReaderTest, MissingValuesAreMarkedWhereTheyAreAllowed) {
  const RowOptions options{.allow_missing = true};
  constexpr uint8_t kM = kMissingValue;
  EXPECT_THAT(ReadFile("x.csv", "a,b,c\n0,,1\n,,\nNA,nan,?\n", options).values,
              ElementsAre(0, kM, 1, kM, kM, kM, kM, kM, kM));
  EXPECT_THAT(ReadFile("x.tsv", "0\t\t1\n\t\t\n", options).values, ElementsAre(0, kM, 1, kM, kM, kM));
  EXPECT_THAT(ReadFile("x.npy", NpyFile("<f4", "1, 3", Bytes<float>({0, NAN, 1})), options).values,
              ElementsAre(0, kM, 1));
}

TEST_F(RowReaderTest, ReadsAtMostTheRowsThatAreWanted) {
  WriteBytes(folder_.File("x.csv"), "0,1\n1,1\n0,0\n");
  EXPECT_EQ(ReadRows(folder_.File("x.csv"), {}, 2).rows, 2);
  EXPECT_EQ(ReadRows(folder_.File("x.csv"), {}, 7).rows, 3);
}

// The public data sets, where they are at hand.
TEST_F(RowReaderTest, ReadsThePublicDataSets) {
  const std::filesystem::path data = ORT_ED_SHARED_DATA;
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no " << data;
  const auto mean = [](const RowTable& table) {
    return std::accumulate(table.values.begin(), table.values.end(), 0.0) /
           static_cast<double>(table.values.size());
  };
  const RowTable mnist = ReadRows(data / "mnist_static_test.bits.npy.gz");
  EXPECT_EQ(mnist.rows, 10000);
  EXPECT_EQ(mnist.columns, 784);
  EXPECT_NEAR(mean(mnist), 0.1325, 5e-5);
  const RowTable grey = ReadRows(data / "mnist_grey_test.u8.npy.gz", {.binarise = Binarise::kGrey}, 1000);
  EXPECT_EQ(grey.rows, 1000);
  EXPECT_EQ(*std::max_element(grey.values.begin(), grey.values.end()), 255);
  const RowTable nltcs = ReadRows(data / "debd" / "nltcs_test.bits.npy.gz");
  EXPECT_EQ(nltcs.rows, 3236);
  EXPECT_EQ(nltcs.columns, 16);
}

}  // namespace
}  // namespace ort_ed
