// Every kind of bad input gives one message that names the file, the place and what to do; damaged files
// never crash or hang.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/data/npy.h"
#include "runtime/data/row_reader.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

std::string Floats(std::vector<float> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::string Header(const std::string& text) { return NpyFile("{" + text + "}", "\0\1\0\1"s); }

struct BadFile {
  const char* what;
  std::string name;
  std::string bytes;
  std::vector<std::string> message;  // the parts it must have, besides the name
  RowOptions options = {};
};

void PrintTo(const BadFile& file, std::ostream* out) { *out << file.what; }

const std::vector<BadFile>& BadFiles() {
  const std::string good = NpyFile("|u1", "2, 2", "\0\1\0\1"s);
  static const std::vector<BadFile> files = {
      {"a 7 in uint8", "x.npy", NpyFile("|u1", "2, 2", "\0\1\0\7"s), {"row 2, column 2", "is 7", "binarise"}},
      {"a negative int8", "x.npy", NpyFile("|i1", "1, 2", "\0\xFF"s), {"row 1, column 2", "is -1"}},
      {"a half in float32",
       "x.npy",
       NpyFile("<f4", "2, 1", Floats({1, 0.5f})),
       {"row 2, column 1", "is 0.5"}},
      {"NaN", "x.npy", NpyFile("<f4", "1, 2", Floats({1, NAN})), {"row 1, column 2", "NaN"}},
      {"infinity", "x.npy", NpyFile("<f4", "1, 2", Floats({1, INFINITY})), {"row 1, column 2", "inf"}},
      {"a 3 in text", "x.csv", "a,b\n0,1\n0,3\n", {"line 3, column 2", "is 3"}},
      {"a word in text", "x.csv", "0,1\n0,yes\n", {"line 2, column 2", "'yes'", "not a number"}},
      {"a word in the first row", "x.csv", "0,1,yes\n0,1,0\n", {"line 1, column 3", "'yes'", "not a number"}},
      {"NaN in text", "x.csv", "0,1\nnan,1\n", {"line 2, column 1", "missing"}},
      {"an empty cell", "x.csv", "0,1\n0,\n", {"line 2, column 2", "empty"}},
      {"an empty file", "x.csv", "", {"is empty"}},
      {"an empty .npy", "x.npy", "", {"is empty"}},
      {"a Parquet file", "x.csv", "PAR1\x15\4\x15\x10"s, {"Parquet", "read_parquet", "to_csv"}},
      {"an Arrow file", "x.feather", "ARROW1\0\0\xff\xff\xff\xff"s, {"Arrow", "read_feather", "to_csv"}},
      {"an empty gzip", "x.csv.gz", Gzip(""), {"is empty"}},
      {"only blank lines", "x.csv", "\n \n\n", {"no rows"}},
      {"a header only", "x.csv", "a,b,c\n", {"a header but no rows"}},
      {"ragged text, too few", "x.csv", "0,1,1\n0,1\n", {"line 2", "2 cells", "line 1 has 3"}},
      {"ragged text, too many", "x.csv", "a,b\n0,1\n\n0,1,1\n", {"line 4", "3 cells", "line 1 has 2"}},
      {"another width", "x.csv", "0,1,1\n", {"3 columns", "4 are expected"}, {.columns = 4}},
      {"another width of .npy", "x.npy", good, {"2 columns", "4 are expected"}, {.columns = 4}},
      {"no rows in .npy", "x.npy", NpyFile("|u1", "0, 2", ""), {"no rows"}},
      {"no columns in .npy", "x.npy", NpyFile("|u1", "2, 0", ""), {"without values", "2 x 0"}},
      {"a number in .npy", "x.npy", NpyFile("|u1", "", "\1"), {"single number"}},
      {"a truncated .npy", "x.npy", good.substr(0, good.size() - 1), {"2 rows", "ends in row 2"}},
      {"a truncated .npy in gzip",
       "x.npy.gz",
       Gzip(good.substr(0, good.size() - 3)),
       {"2 rows", "ends in row 1"}},
      {"a truncated .npy header", "x.npy", good.substr(0, 40), {"cut off within its .npy header"}},
      {"a truncated .npy magic", "x.npy", good.substr(0, 8), {"cut off within its .npy header"}},
      {"a huge shape", "x.npy", NpyFile("|u1", "4000000000, 2", "\0\1\0\1"s), {"4000000000 rows", "row 3"}},
      {"a huge shape in gzip",
       "x.npy.gz",
       Gzip(NpyFile("|u1", "4000000000, 2", "\0\1\0\1"s)),
       {"4000000000 rows", "row 3"}},
      {"a huge width", "x.npy.gz", Gzip(NpyFile("|u1", "1, 4000000000", "\0\1"s)), {"at most 1048576"}},
      {"an overflowing shape",
       "x.npy",
       NpyFile("<f8", "4611686018427387904, 4", "\0"s),
       {"impossible shape"}},
      {"an overflowing width",
       "x.npy",
       NpyFile("|u1", "1, 4294967296, 4294967296", "\0"s),
       {"impossible shape"}},
      {"a shape beyond 64 bits",
       "x.npy",
       NpyFile("|u1", "99999999999999999999, 2", "\0"s),
       {"header", "shape"}},
      {"a negative shape", "x.npy", NpyFile("|u1", "-2, 2", "\0"s), {"header", "negative size, -2"}},
      {"a wrong magic", "x.npy", "NUMPY" + good.substr(6), {"not a .npy file", "numpy.save"}},
      {"an unknown version", "x.npy", NpyFile("|u1", "2, 2", "\0\1\0\1"s, 9), {"version 9"}},
      {"a giant header",
       "x.npy",
       "\x93NUMPY\x02\x00\xff\xff\xff\x7f"s + good,
       {"header of 2147483647 bytes"}},
      {"Fortran order",
       "x.npy",
       Header("'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)"),
       {"Fortran", "ascontiguousarray"}},
      {"a structured array",
       "x.npy",
       Header("'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (4,)"),
       {"structured"}},
      {"complex numbers", "x.npy", NpyFile("<c8", "1, 1", "01234567"), {"'<c8'", "float32"}},
      {"objects", "x.npy", NpyFile("|O", "1, 1", "01234567"), {"'|O'"}},
      {"an empty type", "x.npy", NpyFile("", "1, 1", "0"), {"''"}},
      {"a missing entry", "x.npy", Header("'descr': '|u1', 'shape': (2, 2)"), {"header", "missing"}},
      {"an unknown entry", "x.npy", Header("'colour': 'red'"), {"header", "'colour'"}},
      {"a header that does not end", "x.npy", NpyFile("{'descr': '|u1", "\0"s), {"damaged .npy header"}},
      {"bytes behind the array", "x.npy", good + "!", {"behind the last of its 2 rows"}},
      {"a second array", "x.npy.gz", Gzip(good + good), {"behind the last of its 2 rows"}},
      {"a truncated gzip", "x.csv.gz", Gzip("0,1\n1,1\n").substr(0, 15), {"cut off", "gzip"}},
      {"a gzip without its check sum",
       "x.npy.gz",
       Gzip(good).substr(0, Gzip(good).size() - 4),
       {"cut off", "gzip"}},
      {"bytes behind the gzip", "x.csv.gz", Gzip("0,1\n") + "more", {"behind the end of its gzip data"}},
      {"a damaged gzip",
       "x.csv.gz",
       "\x1f\x8b\x08\0\0\0\0\0\0\0garbage garbage garbage"s,
       {"damaged", "gzip"}},
      {"padding bits",
       "x.bits.npy",
       NpyFile("|u1", "2, 1", "\x80\x81"),
       {"row 2", "padding bits", "column 7"},
       {.columns = 7}},
      {"packed bits of another width",
       "x.bits.npy",
       NpyFile("|u1", "1, 2", "\0\0"s),
       {"2 bytes", "17 columns would need 3"},
       {.columns = 17}},
      {"bits that only have the width of packed ones",
       "x.npy",
       NpyFile("|u1", "2, 2", "\0\1\0\1"s),
       {"2 columns of 0 and 1", "16 are expected", ".bits.npy"},
       {.columns = 16}},
      {"packed floats", "x.bits.npy", NpyFile("<f4", "1, 1", Floats({1})), {"numpy.packbits"}},
      {"truncated packed bits",
       "x.bits.npy.gz",
       Gzip(NpyFile("|u1", "3, 1", "\0\0"s)),
       {"3 rows", "ends in row 3"}},
      {"an IDX of unknown type", "x-idx1-ubyte", "\0\0\x07\1\0\0\0\1\0"s, {"type code (7)"}},
      {"an IDX without axes", "x-idx", "\0\0\x08\0\0\0\0\1\0"s, {"0 axes"}},
      {"a truncated IDX header", "x-idx", "\0\0\x08\3\0\0\0\1"s, {"cut off within its IDX header"}},
      {"a truncated IDX", "x-idx", "\0\0\x08\2\0\0\0\2\0\0\0\2\0\1\1"s, {"2 rows", "ends in row 2"}},
      {"a grey level of 300",
       "x.csv",
       "0,200\n0,300\n",
       {"line 2, column 2", "is 300", "255"},
       {.binarise = Binarise::kGrey}},
      {"a level of 1.5",
       "x.npy",
       NpyFile("<f4", "1, 2", Floats({0.5, 1.5})),
       {"row 1, column 2", "is 1.5"},
       {.binarise = Binarise::kStochastic}},
      {"a level of NaN",
       "x.npy",
       NpyFile("<f4", "1, 2", Floats({0.5, NAN})),
       {"row 1, column 2", "NaN"},
       {.binarise = Binarise::kThreshold}},
      {"a negative level",
       "x.npy",
       NpyFile("|i1", "1, 2", "\1\xF0"),
       {"row 1, column 2", "is -16"},
       {.binarise = Binarise::kGrey}},
      {"binary data read as grey",
       "x.npy",
       good,
       {"only 0 and 1 already", "without binarisation"},
       {.binarise = Binarise::kStochastic}},
      {"an .npz archive", "x.npz", "PK\x03\x04 and so on", {"zip archive", "extract"}},
      {"a workbook", "x.xlsx", "PK\x03\x04 and so on", {"Excel", "save its sheet as CSV"}},
      {"an old workbook", "x.xls", "\xd0\xcf\x11\xe0 and so on", {"Office", "save the sheet as CSV"}},
      {"JSON, line by line", "x.jsonl", "{\"a\": 1}\n", {"JSON", "read_json"}},
      {"JSON on many lines", "x.json", "[\n  {\n", {"JSON", "read_json"}},
      {"a web page", "x.csv", "<!DOCTYPE html>\n", {"web page", "download it again"}},
      {"a database", "x.db", "SQLite format 3", {"SQLite", "-csv"}},
      {"binary rubbish", "x.dat", "\1\0\2\3\4\5"s, {"neither text"}},
  };
  return files;
}

class BadRows : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadRows, TheMessageNamesFileAndPlace) {
  const BadFile& file = GetParam();
  const TempDir folder;
  const std::string path = folder.File(file.name);
  WriteBytes(path, file.bytes);
  const std::string message = MessageOf(ErrorCode::kBadData, [&] { ReadRows(path, file.options); });
  EXPECT_THAT(message, HasSubstr("'" + path + "'"));
  for (const std::string& part : file.message) EXPECT_THAT(message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(AllKinds, BadRows, ::testing::ValuesIn(BadFiles()));

TEST(BadPaths, AreNamedWithTheReason) {
  const TempDir folder;
  const std::string missing = folder.File("missing.npy");
  const std::string message = MessageOf(ErrorCode::kIo, [&] { OpenRows(missing); });
  EXPECT_THAT(message, HasSubstr("'" + missing + "': No such file"));
  EXPECT_THAT(MessageOf(ErrorCode::kIo, [&] { OpenRows(folder.path()); }), HasSubstr("is a folder"));
}

TEST(BadPaths, AFileThatMayNotBeReadIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempDir folder;
  const std::string path = folder.File("secret.csv");
  WriteBytes(path, "0,1\n");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  EXPECT_THAT(MessageOf(ErrorCode::kIo, [&] { OpenRows(path); }), HasSubstr("Permission denied"));
}

TEST(BadPaths, AFileThatFailsWhileItIsReadIsNamed) {
  const std::string path = "/proc/self/mem";  // opens, but its first page cannot be read
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  EXPECT_THAT(MessageOf(ErrorCode::kIo, [&] { OpenRows(path); }),
              HasSubstr("'/proc/self/mem': Input/output"));
}

TEST(BadOptions, AreRefused) {
  const TempDir folder;
  const std::string path = folder.File("x.csv");
  WriteBytes(path, "0,1\n");
  for (const RowOptions& options :
       {RowOptions{.binarise = Binarise::kThreshold, .threshold = 2}, RowOptions{.columns = -1},
        RowOptions{.binarise = Binarise::kGrey, .allow_missing = true}})
    MessageOf(ErrorCode::kInvalidArgument, [&] { OpenRows(path, options); });
}

// Truncations and flipped bytes at random places either read as some rows or throw Error.
TEST(DamagedFiles, NeverCrashOrHang) {
  std::string csv = "a,b,c,d\n";
  std::string bits;
  for (int row = 0; row < 40; ++row) {
    csv += row % 3 == 0 ? "0,1,1,0\n" : "1,0, 1,0.0\r\n";
    bits += "\0\1\1\0"s;
  }
  const std::vector<std::pair<std::string, std::string>> files = {
      {"x.npy", NpyFile("|u1", "40, 4", bits)},
      {"f.npy", NpyFile("<f4", "10, 4", std::string(160, '\0'))},
      {"x.bits.npy", NpyFile("|u1", "40, 4", bits)},
      {"x.csv", csv},
      {"x-idx2-ubyte", "\0\0\x08\2\0\0\0\x28\0\0\0\4"s + bits},
      {"x.csv.gz", Gzip(csv)},
      {"x.npy.gz", Gzip(NpyFile("|u1", "40, 4", bits))},
  };
  constexpr int kTrials = 200;
  const std::vector<RowOptions> all_options = {
      {}, {.binarise = Binarise::kStochastic}, {.binarise = Binarise::kGrey}, {.allow_missing = true}};
  const TempDir folder;
  int damaged = 0;
  for (size_t f = 0; f < files.size(); ++f) {
    const auto& [name, good] = files[f];
    const std::string path = folder.File(name);
    for (int trial = 0; trial < kTrials; ++trial) {
      RandomStream random(1, 0x46555a5a, f, static_cast<uint64_t>(trial));
      std::string bytes = good;
      if (trial % 2 == 0) bytes.resize(random.Below(static_cast<uint32_t>(bytes.size())));
      for (uint32_t flips = trial % 2 == 0 ? random.Below(2) : 1 + random.Below(4);
           flips > 0 && !bytes.empty(); --flips)
        bytes[random.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(random.Next32());
      WriteBytes(path, bytes);
      try {
        const RowTable table = ReadRows(path, all_options[random.Below(4)]);
        EXPECT_EQ(table.values.size(), static_cast<size_t>(table.rows * table.columns));
      } catch (const Error& error) {
        ++damaged;
        EXPECT_THAT(error.what(), HasSubstr(path));
      }
    }
  }
  EXPECT_GT(damaged, kTrials);  // the damage is seen as such
}

TEST(ReadNpy, GivesValuesOfAnyTypeWithTheirShape) {
  const TempDir folder;
  const std::string path = folder.File("j.npy");
  WriteBytes(path, NpyFile("<f4", "2, 1, 2", Floats({1, -2, 0.5f, 4})));
  const NpyArray array = ReadNpy(path);
  EXPECT_THAT(array.shape, ::testing::ElementsAre(2, 1, 2));
  EXPECT_THAT(array.values, ::testing::ElementsAre(1, -2, 0.5, 4));
  WriteBytes(path, NpyFile("<f4", "2, 1, 3", Floats({1, -2, 0.5f, 4})));
  EXPECT_THAT(MessageOf(ErrorCode::kBadData, [&] { ReadNpy(path); }), HasSubstr("cut off"));
}

}  // namespace
}  // namespace ort_ed
