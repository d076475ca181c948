#include <cmath>
#include <set>

#include "ort_ed/random.h"
#include "runtime/data/table/cell_value.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/data/table/table_rows.h"
#include "runtime/data/table/table_writer.h"
#include "runtime/data/table/variable_codec.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::vector<std::string>>;
using Bits = std::vector<uint8_t>;
using namespace std::string_literals;

class TableTest : public testing::Test {
 protected:
  std::string File(const std::string& text) {
    const std::string path = folder_.File("table" + std::to_string(++files_) + ".csv");
    WriteBytes(path, text);
    return path;
  }

  Rows ReadCells(const std::string& text) {
    TableReader table{InputStream(File(text))};
    Rows rows;
    while (table.Next()) rows.push_back(table.cells());
    return rows;
  }

  Bits ReadBits(const std::string& text, const Variables& variables, const TableRowOptions& options = {}) {
    const auto rows = OpenTableRows(InputStream(File(text)), variables, options);
    return ReadAll(*rows).values;
  }

  TempDir folder_;
  int files_ = 0;
};

Variables Pets() {
  return Variables({{.name = "pet", .kind = VariableKind::kNominal, .labels = {"cat", "dog"}, .other = true},
                    {.name = "young", .labels = {"no", "yes"}},
                    {.name = "kg",
                     .kind = VariableKind::kOrdered,
                     .values = CellValues::kNumber,
                     .edges = {0, 5, 20.5},
                     .missing = true}});
}

TEST_F(TableTest, CellsAreThereWhateverTheirDress) {
  EXPECT_EQ(ReadCells("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(ReadCells("\xef\xbb\xbf# made by x\n\na;b\r\n 1,5 ; x \r\n"), (Rows{{"a", "b"}, {"1,5", "x"}}));
  EXPECT_EQ(ReadCells("a\tb\n\t\n"), (Rows{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(ReadCells("a|b\n1|2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(ReadCells("a b\n 1   2 \n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(ReadCells("\"a,x\",\"b \"\"q\"\"\"\n\"two\nlines\",5\"\n#1,2\n"),
            (Rows{{"a,x", "b \"q\""}, {"two\nlines", "5\""}, {"#1", "2"}}));
  EXPECT_EQ(ReadCells("one\nx\n\ny\n"), (Rows{{"one"}, {"x"}, {"y"}}));
}

TEST_F(TableTest, LinesAreCountedAsPeopleCountThem) {
  TableReader table{InputStream(File("a,b\n\n\"x\ny\",1\nz,2\n"))};
  std::vector<int64_t> lines;
  while (table.Next()) lines.push_back(table.line());
  EXPECT_THAT(lines, ElementsAre(1, 3, 5));
}

TEST_F(TableTest, ALineInFrontThatBeginsWithAHashMayNameTheColumns) {
  const Rows pets = {{"#", "pet"}, {"1", "cat"}, {"2", "dog"}};
  EXPECT_EQ(ReadCells("#,pet\n1,cat\n2,dog\n"), pets);
  EXPECT_EQ(ReadCells("# of 2024, by us\n##,x\n#,pet\n\n1,cat\n2,dog\n"), pets);
  EXPECT_EQ(ReadCells("#id\tpet\n1\tcat\n"), (Rows{{"#id", "pet"}, {"1", "cat"}}));
  EXPECT_EQ(ReadCells("# of 2024, by us\nid,pet\n1,cat\n"), (Rows{{"id", "pet"}, {"1", "cat"}}));
  EXPECT_EQ(ReadCells("#made,by,us\nid,pet\n1,cat\n"), (Rows{{"id", "pet"}, {"1", "cat"}}));
  EXPECT_EQ(ReadCells("#remark\n\n#x\n"), Rows());
  TableReader table{InputStream(File("# remark\n#,pet\n\n1,cat\n2\n"))};
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.line(), 2);
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.line(), 4);
  ExpectError(
      ErrorCode::kBadData, [&] { table.Next(); }, "line 5 has 1 cells, but line 2 has 2");
}

TEST_F(TableTest, DamagedTablesAreRefusedByLine) {
  const std::pair<std::string, const char*> bad[] = {
      {"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, but line 1 has 2"},
      {"a,b\n1,\"2\n", "line 2 has a quote"},
      {"a,b\r1,2\r3,4\r", "line 1 has carriage returns without line feeds"},
      {"a,b\n1,\xff\n", "line 2, column 2 is not UTF-8"},
      {"a,b\n1,\xed\xa0\x80\n", "not UTF-8"},
      {"a,b\n1,2\nx\0y,2\n"s, "line 3, column 1 has a NUL byte"},
      {"a,b\0\n1,2\n"s, "line 1, column 2 has a NUL byte"},
  };
  for (const auto& [text, why] : bad)
    ExpectError(
        ErrorCode::kBadData, [&] { ReadCells(text); }, why, ".csv'");
}

TEST(CellValue, TypesAreTheNarrowestThatFit) {
  using enum CellValues;
  const std::pair<const char*, CellValues> types[] = {
      {"7", kInteger},
      {"-7", kInteger},
      {"+7", kInteger},
      {"0", kInteger},
      {"7.5", kNumber},
      {".5", kNumber},
      {"1e3", kNumber},
      {"007", kText},
      {"7 kg", kText},
      {"inf", kText},
      {"0x10", kText},
      {"1,5", kNumber},
      {"2024-02-29", kDate},
      {"2024/2/9", kDate},
      {"29.02.2024", kDate},
      {"2023-02-29", kText},
      {"2024-02-29 7:05", kTime},
      {"true", kText},
      {"2024-02-29T24:00", kText},
      {"2024-02-29T07:05:09.25Z", kTime},
      {"99999999999999999999", kNumber},
  };
  for (const auto& [cell, type] : types) EXPECT_EQ(ReadCellValue(cell).type, type) << cell;
  EXPECT_EQ(ReadCellValue("1,5", true).number, 1.5);
  EXPECT_EQ(ReadCellValue("1970-01-03").number, 2);
  EXPECT_EQ(ReadCellValue("1970-01-02T01:00:01").number, 86400 + 3601);
  EXPECT_EQ(ReadCellValue("1970-01-02T01:00:01+01:00").number, 86400 + 1);
  EXPECT_EQ(ReadAs("1970-01-03", kTime), 2 * 86400.0);
  EXPECT_EQ(ReadAs("x", kNumber), std::nullopt);
  for (const char* cell : {"", "NA", "NaN", "?", "null", "N/A"}) EXPECT_TRUE(IsMissingCell(cell)) << cell;
  EXPECT_FALSE(IsMissingCell("none"));
}

TEST(CellValue, NumbersAreWrittenSoThatTheyReadBack) {
  EXPECT_EQ(FormatAs(19000, CellValues::kDate, 0, 1e9), "2022-01-08");
  EXPECT_EQ(FormatAs(-1, CellValues::kTime, -9, 9), "1969-12-31T23:59:59");
  EXPECT_EQ(FormatAs(12, CellValues::kInteger, 0, 99), "12");
  EXPECT_EQ(FormatAs(1.0 / 3, CellValues::kNumber, 0, 1), "0.333333");
  EXPECT_EQ(FormatAs(0.33333333, CellValues::kNumber, 0.3333333, 0.3333334), "0.33333333");
}

TEST(CellValue, PeopleWriteNumbersInManyWays) {
  using enum CellValues;
  const std::tuple<const char*, bool, CellValues, double> cells[] = {
      {"1,234", false, kInteger, 1234},
      {"-1,234,567.5", false, kNumber, -1234567.5},
      {"45%", false, kInteger, 45},
      {"4.5 %", false, kNumber, 4.5},
      {"$1,200", false, kInteger, 1200},
      {"-$5.50", false, kNumber, -5.5},
      {"1 200 EUR", false, kInteger, 1200},
      {"EUR 1200", false, kInteger, 1200},
      {"1\xc2\xa0"
       "200\xc2\xa0€",
       false, kInteger, 1200},
      {"1.234,56", true, kNumber, 1234.56},
      {"1.234,56", false, kNumber, 1234.56},
      {"-12 345,50", false, kNumber, -12345.5},
      {"1\xe2\x80\xaf"
       "234,5",
       true, kNumber, 1234.5},
      {"1'234'567.25", false, kNumber, 1234567.25},
      {"1.234,56 €", true, kNumber, 1234.56},
      {"1,234.56", true, kNumber, 1234.56},
      {"12,34", false, kNumber, 12.34},
      {"1,2345", false, kNumber, 1.2345},
      {"0,123", false, kNumber, 0.123},
      {"1,5 €", false, kNumber, 1.5},
      {"1,234,567", true, kInteger, 1234567},
      {"14:05", false, kClock, 50700},
      {"9:05:30", false, kClock, 32730},
      {"2:05 PM", false, kClock, 50700},
      {"12:05 AM", false, kClock, 300},
      {"12:05pm", false, kClock, 43500},
      {"2:05\xe2\x80\xafPM", false, kClock, 50700},
      {"9:05:30 a.m.", false, kClock, 32730},
      {"1970-01-02 1:00:01 AM", false, kTime, 90001},
      {"1/2/1970 11:00 PM", false, kTime, 86400 + 82800},
  };
  for (const auto& [cell, decimal_comma, type, number] : cells) {
    EXPECT_EQ(ReadCellValue(cell, decimal_comma).type, type) << cell;
    EXPECT_EQ(ReadCellValue(cell, decimal_comma).number, number) << cell;
  }
  for (const char* text :
       {",123", "1,234,", "1,2,3", "192.168.100.200", "555 123", "12 34,5", "1 2345.5", "$", "%", "25:00",
        "14:5", "13:05 PM", "0:30 AM", "2:05 P", "14:05Z", "EUR", "A 12", "007%", "1,234,56.7"})
    EXPECT_EQ(ReadCellValue(text).type, kText) << text;
}

TEST(CellValue, ColumnsTellTheDayFromTheMonth) {
  using enum CellValues;
  const double march27 = *ReadAs("2024-03-27", kDate), march4 = *ReadAs("2024-03-04", kDate);
  for (const char* cell : {"03/27/2024", "3/27/2024", "27/03/2024", "27/3/2024", "27-3-2024", "27.03.2024",
                           "27.3.2024", "2024/03/27", "2024/3/27"})
    EXPECT_EQ(ReadCellValue(cell).number, march27) << cell;
  EXPECT_EQ(ReadAs("3/4/2024", kDate, false, "MM/DD/YYYY"), march4);
  EXPECT_EQ(ReadAs("4/3/2024", kDate, false, "DD/MM/YYYY"), march4);
  EXPECT_EQ(ReadAs("03/27/2024", kDate, false, "DD/MM/YYYY"), std::nullopt);
  EXPECT_EQ(ReadAs("03/04/2024 10:30", kTime, false, "MM/DD/YYYY hh:mm"), march4 * 86400 + 37800);
}

TEST(CellValue, ThreeDigitsMayBeThousandsOrDecimals) {
  using enum CellValues;
  EXPECT_EQ(ReadCellValue("1,234").form.otherwise, 1.234);
  EXPECT_EQ(ReadCellValue("-1,234", true).form.otherwise, -1234);
  EXPECT_EQ(ReadCellValue("1.234 €", true).form.otherwise, 1234);
  for (const char* clear : {"1.5", "0.123", "1234.567", "1,234.5", "1,234,567", "1.234e5", "1234"})
    EXPECT_EQ(ReadCellValue(clear).form.unclear, '\0') << clear;
  EXPECT_EQ(ReadAs("1.234", kNumber, true), 1.234);
  EXPECT_EQ(ReadAs("1.234", kNumber, true, "#.###"), 1234);
  EXPECT_EQ(ReadAs("1.234", kNumber, true, "#,00"), 1234);
  EXPECT_EQ(ReadAs("1.234", kNumber, false, "#,00"), 1.234);  // a table of another program
  EXPECT_EQ(ReadAs("1,234", kNumber, true, "#,###"), 1234);
  EXPECT_EQ(ReadAs("1,234", kNumber, false, "#,#"), 1.234);
}

TEST(CellValue, FormatsAreKept) {
  using enum CellValues;
  const std::tuple<double, CellValues, const char*, const char*> cells[] = {
      {1234567, kInteger, "$#,###", "$1,234,567"},
      {-45, kInteger, "#%", "-45%"},
      {1234.5, kNumber, "# ###.00 EUR", "1 234.50 EUR"},
      {1234.5, kNumber, "#.###,00 €", "1.234,50 €"},
      {1.5, kNumber, "#,#", "1,5"},
      {1.5, kNumber, "#,00 €", "1,50 €"},
      {999, kInteger, "#,###", "999"},
      {50700, kClock, "hh:mm", "14:05"},
      {32700, kClock, "h:mm", "9:05"},
      {32700, kClock, "hh:mm AM", "09:05 AM"},
      {43500, kClock, "h:mm AM", "12:05 PM"},
      {300, kClock, "h:mm:ss am", "12:05:00 am"},
      {50700, kClock, "h:mma.m.", "2:05p.m."},
      {19844 * 86400.0 + 50700, kTime, "M/D/YYYY h:mm AM", "5/1/2024 2:05 PM"},
      {19844, kDate, "MM/DD/YYYY", "05/01/2024"},
      {19844, kDate, "D.M.YYYY", "1.5.2024"},
      {19844 * 86400.0, kTime, "YYYY/MM/DD hh:mm", "2024/05/01 00:00"},
  };
  for (const auto& [number, type, format, text] : cells) {
    EXPECT_EQ(FormatAs(number, type, -1e12, 1e12, format), text);
    EXPECT_EQ(ReadAs(text, type, std::string_view(format).find("#.") == 0, format), number) << text;
  }
  EXPECT_EQ(ReadAs("$5", kInteger, false, "#%"), std::nullopt);
  EXPECT_EQ(ReadAs("5", kInteger, false, "#%"), 5);
}

// What is drawn within a bin is written without its seconds, and belongs to the bin all the same.
TEST(VariableCodec, TimesWithoutSecondsAreDrawnByTheMinute) {
  Variable opened{.name = "opened",
                  .kind = VariableKind::kCyclic,
                  .values = CellValues::kClock,
                  .edges = {28800, 28801, 29040, 32400},
                  .format = "h:mm AM"};
  RandomStream random(1, 2, 3, 4);
  for (const CellValues type : {CellValues::kClock, CellValues::kTime}) {
    opened.values = type;
    if (type == CellValues::kTime) opened.format = "M/D/YYYY h:mm AM";
    for (int64_t state = 0; state < 3; ++state)
      for (int i = 0; i < 50; ++i) {
        const std::string cell = DecodeState(opened, state, random);
        EXPECT_EQ(VariableEncoder(opened, false).Encode(cell), state) << cell;
      }
  }
  opened.values = CellValues::kClock;
  opened.format = "h:mm AM";
  EXPECT_EQ(DescribeState(opened, 0), "8:00 AM");
  EXPECT_EQ(DescribeState(opened, 1), "8:01 AM to 8:03 AM");
}

TEST(VariableCodec, NoAndYesAreTheSameInAnyCase) {
  const VariableEncoder binary({.name = "b", .labels = {"False", "True"}}, false);
  for (const char* cell : {"true", "TRUE", "True"}) EXPECT_EQ(binary.Encode(cell), 1) << cell;
  EXPECT_EQ(binary.Encode("false"), 0);
  const VariableEncoder names({.name = "n", .kind = VariableKind::kNominal, .labels = {"ann", "Ann"}}, false);
  EXPECT_EQ(names.Encode("Ann"), 1);
}

TEST(VariableCodec, CellsHaveStates) {
  const Variables pets = Pets();
  const VariableEncoder pet(pets[0], false), young(pets[1], false), kg(pets[2], false);
  EXPECT_EQ(pet.Encode("dog"), 1);
  EXPECT_EQ(pet.Encode("horse"), 2);
  EXPECT_EQ(pet.Encode("(other)"), 2);
  EXPECT_EQ(pet.Encode(""), std::nullopt);
  EXPECT_EQ(young.Encode("yes"), 1);
  EXPECT_THROW(young.Encode("maybe"), std::invalid_argument);
  EXPECT_EQ(kg.Encode("-3"), 0);
  EXPECT_EQ(kg.Encode("4.99"), 0);
  EXPECT_EQ(kg.Encode("5"), 1);
  EXPECT_EQ(kg.Encode("1e9"), 1);
  EXPECT_EQ(kg.Encode("NA"), 2);
  EXPECT_THROW(kg.Encode("heavy"), std::invalid_argument);
  EXPECT_EQ(VariableEncoder(pets[2], true).Encode("4,99"), 0);
  const Variable rooms{.name = "rooms",
                       .kind = VariableKind::kOrdered,
                       .values = CellValues::kInteger,
                       .labels = {"1", "2", "4"}};
  EXPECT_EQ(VariableEncoder(rooms, false).Encode("4.0"), 2);
  EXPECT_EQ(VariableEncoder(rooms, false).Encode("9"), 2);
  EXPECT_EQ(VariableEncoder(rooms, false).Encode("0"), 0);
  EXPECT_EQ(VariableEncoder({.name = "bare"}, false).Encode("1.0"), 1);
  EXPECT_THROW(VariableEncoder({.name = "bare"}, false).Encode("2"), std::invalid_argument);
}

TEST(VariableCodec, StatesReadBackAsThemselves) {
  const Variables all({{.name = "whole",
                        .kind = VariableKind::kOrdered,
                        .values = CellValues::kInteger,
                        .edges = {-3, 0, 1, 50}},
                       {.name = "point",
                        .kind = VariableKind::kOrdered,
                        .values = CellValues::kNumber,
                        .edges = {0, std::nextafter(0.0, 1.0), 0.125}},
                       {.name = "day",
                        .kind = VariableKind::kCyclic,
                        .values = CellValues::kDate,
                        .edges = {0, 1, 400},
                        .other = true,
                        .missing = true},
                       Pets()[0],
                       Pets()[1]});
  RandomStream random(1, 2, 3, 4);
  for (int64_t v = 0; v < all.size(); ++v) {
    const VariableEncoder encoder(all[v], false);
    for (int64_t state = 0; state < all.states(v); ++state)
      for (int i = 0; i < 50; ++i) {
        const std::string cell = DecodeState(all[v], state, random);
        EXPECT_EQ(encoder.Encode(cell), state) << all[v].name << " " << cell;
      }
  }
  EXPECT_EQ(DecodeState(all[0], 1, random), "0");
  EXPECT_EQ(DecodeState(all[1], 0, random), "0");
  std::set<std::string> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(DecodeState(all[0], 0, random));
  EXPECT_THAT(drawn, ElementsAre("-1", "-2", "-3"));
}

TEST_F(TableTest, ColumnsAreFoundByNameInAnyOrder) {
  const Bits expected = {0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_EQ(ReadBits("pet,young,kg\ndog,yes,3\nhorse,no,\n", Pets()), expected);
  EXPECT_EQ(ReadBits("kg;id;young;pet\n3;a;yes;dog\n?;b;no;horse\n", Pets()), expected);
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,kg\ndog,3\n", Pets()); }, "'young'", "'pet', 'kg'");
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("dog,yes,3\n", Pets()); }, "'pet', 'young', 'kg'");
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,young,kg,kg\ndog,yes,3,4\n", Pets()); }, "two columns 'kg'");
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,young,kg\n", Pets()); }, "no rows");
}

TEST_F(TableTest, CellsWithoutAStateAreRefusedByLineAndColumn) {
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,young,kg\ndog,yes,3\ncat,old,3\n", Pets()); },
      "line 3, column 'young' is 'old', which is none of no, yes", "correct it, or remove the row");
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,young,kg\ndog,yes,much\n", Pets()); },
      "line 2, column 'kg' is 'much', not a number; correct it, leave it empty if it is not known, or");
  const Variables days(
      {{.name = "day", .kind = VariableKind::kOrdered, .values = CellValues::kDate, .edges = {0, 1, 400}}});
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("day\n31/12/2024\n", days); },
      "line 2, column 'day' is '31/12/2024', not a date written YYYY-MM-DD; correct it, or remove the row");
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("pet,young,kg\ndog,,3\n", Pets()); },
      "line 2, column 'young' is empty");
}

TEST_F(TableTest, MissingCellsAreHolesOrTheirRowsAreLeftOut) {
  const std::string text = "pet,young,kg\n,yes,\ncat,no,6\n";
  EXPECT_EQ(ReadBits(text, Pets(), {.allow_missing = true}),
            (Bits{255, 255, 255, 1, 255, 255, 255, 1, 0, 0, 0, 0, 1, 0}));
  const auto rows = OpenTableRows(InputStream(File(text)), Pets(), {.omit_missing = true, .id = "kg"});
  Bits bits(3 * 7);
  EXPECT_EQ(rows->Read(bits), 1);
  EXPECT_EQ(rows->omitted(), 1);
  EXPECT_THAT(rows->ids(), ElementsAre("6"));
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits(text, Pets(), {.id = "name"}); }, "no column 'name'");
}

TEST_F(TableTest, TablesWithoutAHeaderHaveNumbers) {
  const Variables plain({{.name = "column_3"}, {.name = "column_1", .labels = {"a", "b"}}});
  EXPECT_EQ(ReadBits("a,x,1\nb,y,0\n", plain), (Bits{1, 0, 0, 1}));
  ExpectError(
      ErrorCode::kBadData, [&] { ReadBits("a,x\n", plain); }, "'column_3'");
  EXPECT_EQ(OpenTableRows(InputStream(File("a,x,1\n")), plain)->unknown_columns(), 0);
  EXPECT_EQ(OpenTableRows(InputStream(File("a,x,1,7\n")), plain)->unknown_columns(), 1);
  EXPECT_EQ(OpenTableRows(InputStream(File("column_1,x,column_3,y\na,x,1,7\n")), plain)->unknown_columns(),
            0);
}

TEST_F(TableTest, WrittenTablesReadBack) {
  const Bits bits = {0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0};
  for (const char* name : {"out.csv", "out.tsv"}) {
    const auto writer = CreateTableFile(folder_.File(name), Pets(), 5);
    writer->Write(bits);
    writer->Commit();
    EXPECT_EQ(ReadAll(*OpenTableRows(InputStream(folder_.File(name)), Pets())).values, bits);
  }
  const Variables odd(
      {{.name = "a,\"b\"", .kind = VariableKind::kNominal, .labels = {"x\ny"}, .missing = true}});
  const auto writer = CreateTableFile(folder_.File("odd.csv"), odd, 5);
  writer->Write(Bits{1, 0, 0, 1});
  writer->Commit();
  EXPECT_EQ(FileContents(folder_.File("odd.csv")), "\"a,\"\"b\"\"\"\n\"x\ny\"\nNA\n");
}

}  // namespace
}  // namespace ort_ed
