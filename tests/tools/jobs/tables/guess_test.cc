#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "runtime/data/table/variable_codec.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"
#include "tools/jobs/tables/bin_edges.h"
#include "tools/jobs/tables/guess_variables.h"
#include "tools/jobs/tables/variables_file.h"

namespace ort_ed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class GuessTest : public testing::Test {
 protected:
  TableProfile Profile(const std::string& text, TableHeader header = TableHeader::kAuto) {
    const std::string path = folder_.File("table.csv");
    WriteBytes(path, text);
    return ProfileTable(path, header, observer_);
  }
  TableGuess Guess(const std::string& text, const TableOptions& options = {}) {
    return GuessVariables(Profile(text, options.header), options);
  }

  TempDir folder_;
  Observer observer_;
};

// 200 rows of a company's table.
std::string Customers() {
  std::string text = "customer_id,name,since,region,member,visits,rating,spent,zip,note,country\n";
  const char* regions[] = {"north", "south", "east", "west"};
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{},\"Person, {}\",2024-{:02}-{:02},{},{},{},{},{:.2f},{:05},{},DE\n", 7000 + 3 * i,
                        i, 1 + i % 12, 1 + i % 28, regions[i % 4], i % 3 == 0 ? "true" : "false", i * i % 97,
                        1 + i % 5, 0.37 * (i * 7 % 200), 1000 + i % 6, i % 10 == 0 ? "" : "ok");
  return text;
}

TEST_F(GuessTest, ColumnsAreWhatTheyLookLike) {
  const TableGuess guess = Guess(Customers());
  const Variables& v = guess.variables;
  ASSERT_EQ(v.size(), 9);
  const auto at = [&](const char* name) -> const Variable& { return v[*v.Find(name)]; };
  EXPECT_EQ(at("since").values, CellValues::kDate);
  EXPECT_EQ(at("since").kind, VariableKind::kOrdered);
  EXPECT_EQ(at("region").kind, VariableKind::kNominal);
  EXPECT_THAT(at("region").labels, ElementsAre("east", "north", "south", "west"));
  EXPECT_TRUE(at("region").other);
  EXPECT_EQ(at("member").kind, VariableKind::kBinary);
  EXPECT_THAT(at("member").labels, ElementsAre("false", "true"));
  EXPECT_EQ(at("visits").values, CellValues::kInteger);
  EXPECT_EQ(at("visits").edges.size(), 17u);
  EXPECT_THAT(at("rating").labels, ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_EQ(at("rating").kind, VariableKind::kOrdered);
  EXPECT_EQ(at("spent").values, CellValues::kNumber);
  EXPECT_EQ(at("zip").values, CellValues::kText);
  EXPECT_EQ(at("zip").kind, VariableKind::kNominal);
  EXPECT_TRUE(at("note").missing);
  EXPECT_THAT(at("country").labels, ElementsAre("DE"));
  EXPECT_TRUE(at("country").other);
  std::vector<std::string> dropped;
  for (const auto& each : guess.dropped) dropped.push_back(each.column);
  EXPECT_THAT(dropped, ElementsAre("customer_id", "name"));
  EXPECT_THAT(guess.warnings,
              ElementsAre(HasSubstr("'customer_id' identifies rows"), HasSubstr("'name' identifies rows"),
                          HasSubstr("'country' is 'DE' in every row")));
}

// What people write: units, thousands, times of the day, dates in the order of their country.
TEST_F(GuessTest, CellsAreReadAsPeopleMeanThem) {
  std::string text = "price,share,opened,us,eu,open,flag,answer\n";
  const char* flags[] = {"TRUE", "true", "False", "true"};
  for (int i = 0; i < 200; ++i)
    text += fmt::format("\"${},{:03}\",{}%,{}:{:02},{:02}/{:02}/2024,{:02}/{:02}/2024,0{}/0{}/2024,{},{}\n",
                        1 + i % 40, i % 5 * 7, i % 50, 8 + i % 12, i * 7 % 60, 1 + i % 12, 1 + i % 28,
                        1 + i % 28, 1 + i % 12, 1 + i % 9, 1 + i / 9 % 9, flags[i % 4],
                        i % 10 == 0 ? "" : (i % 3 ? "Yes" : (i % 2 ? "NO" : "no")));
  const TableGuess guess = Guess(text);
  const Variables& v = guess.variables;
  ASSERT_EQ(v.size(), 8);
  const auto at = [&](const char* name) -> const Variable& { return v[*v.Find(name)]; };
  EXPECT_EQ(at("price").values, CellValues::kInteger);
  EXPECT_EQ(at("price").format, "$#,###");
  EXPECT_GE(at("price").edges.front(), 1000);
  EXPECT_EQ(at("share").format, "#%");
  EXPECT_EQ(at("opened").values, CellValues::kClock);
  EXPECT_EQ(at("opened").kind, VariableKind::kCyclic);
  EXPECT_EQ(at("opened").format, "h:mm");
  EXPECT_EQ(at("us").format, "MM/DD/YYYY");
  EXPECT_EQ(at("eu").format, "DD/MM/YYYY");
  EXPECT_EQ(at("us").edges, at("eu").edges);  // the same days, written in two ways
  EXPECT_EQ(at("open").format, "MM/DD/YYYY");
  EXPECT_EQ(at("flag").kind, VariableKind::kBinary);
  EXPECT_THAT(at("flag").labels, ElementsAre("False", "true"));
  EXPECT_THAT(at("answer").labels, ElementsAre("NO", "Yes"));
  EXPECT_TRUE(at("answer").missing);
  EXPECT_THAT(guess.warnings, ElementsAre(HasSubstr("'open': no date tells the day from the month"),
                                          HasSubstr("'answer' looks like what is to be predicted")));
  EXPECT_THAT(DescribeVariable(at("price")), HasSubstr("from $1,"));
  EXPECT_THAT(DescribeVariable(at("us")), HasSubstr("written MM/DD/YYYY"));
}

// As spreadsheets in the United States write them.
TEST_F(GuessTest, TimesHaveHalvesOfTheDay) {
  std::string text = "login,changed,kind\n";
  for (int i = 0; i < 200; ++i)
    text +=
        fmt::format("{}:{:02} {},{}/{}/2024 {}:{:02} {},{}\n", 1 + i % 12, i * 7 % 60, i % 2 ? "AM" : "PM",
                    1 + i % 12, 1 + i % 28, 1 + i * 5 % 12, i * 11 % 60, i % 3 ? "AM" : "PM", i % 2);
  const TableGuess guess = Guess(text);
  const Variables& v = guess.variables;
  ASSERT_EQ(v.size(), 3);
  EXPECT_EQ(v[0].values, CellValues::kClock);
  EXPECT_EQ(v[0].kind, VariableKind::kCyclic);
  EXPECT_EQ(v[0].format, "h:mm AM");
  EXPECT_EQ(v[1].values, CellValues::kTime);
  EXPECT_EQ(v[1].format, "M/D/YYYY h:mm AM");
  EXPECT_THAT(guess.warnings, IsEmpty());
}

// 1.234 is 1234 to some programs and 1.234 to others: the other cells of the column tell.
TEST_F(GuessTest, PointsAndCommasMeanWhatTheColumnSays) {
  std::string german = "grouped;large;density;price;all\n", tabs = "price\tgrouped\tmeasured\n";
  for (int i = 0; i < 200; ++i) {
    german += fmt::format("{};{};{};{},{:02};{}.{:03}\n", i % 2 ? fmt::format("{}.{:03}", 1 + i, i) : "999",
                          i % 2 ? fmt::format("1.{:03}.000", i) : fmt::format("{}.{:03}", 1 + i, i),
                          i % 2 ? "0.9968" : fmt::format("1.{:03}", i), i, i % 100, 1 + i, i);
    tabs += fmt::format("{},{}\t{},{:03}\t{}\n", i, i % 10, 1 + i, i,
                        i % 2 ? fmt::format("{},{:03}", 1 + i, i) : "0,25");
  }
  const TableGuess guess = Guess(german);
  const auto of = [](const TableGuess& table, const char* name) -> const Variable& {
    return table.variables[*table.variables.Find(name)];
  };
  EXPECT_EQ(of(guess, "grouped").format, "#.###");
  EXPECT_EQ(of(guess, "grouped").values, CellValues::kInteger);
  EXPECT_EQ(of(guess, "grouped").edges.front(), 999);
  EXPECT_EQ(of(guess, "grouped").edges.back(), 200'200);
  EXPECT_EQ(of(guess, "large").edges.front(), 1000);
  EXPECT_EQ(of(guess, "density").format, "#.0000");
  EXPECT_EQ(of(guess, "density").edges.front(), 0.9968);
  EXPECT_EQ(of(guess, "price").format, "#,00");
  EXPECT_EQ(of(guess, "all").values, CellValues::kNumber);
  EXPECT_THAT(guess.warnings, testing::Contains(HasSubstr("'grouped': no cell tells whether 1.234 is 1234")));
  EXPECT_THAT(guess.warnings, Not(testing::Contains(HasSubstr("'large': no cell tells"))));

  const TableGuess other = Guess(tabs);
  EXPECT_EQ(of(other, "price").format, "#,0");
  EXPECT_EQ(of(other, "price").edges.front(), 0);
  EXPECT_EQ(of(other, "grouped").format, "#,###");
  EXPECT_EQ(of(other, "measured").format, "#,000");
  EXPECT_LT(of(other, "measured").edges.back(), 201);
}

TEST_F(GuessTest, LongCellsAreCutInMessages) {
  const std::string book(5000, 'x');
  std::string text = "a,b\n";
  for (int i = 0; i < 40; ++i) text += book + (i % 2 ? "1," : "2,") + book + "\n";
  const TableGuess guess = Guess(text);
  for (const std::string& description : guess.descriptions) EXPECT_LT(description.size(), 300u);
  for (const std::string& warning : guess.warnings) EXPECT_LT(warning.size(), 300u);
}

TEST_F(GuessTest, OptionsHaveTheLastWord) {
  TableOptions options;
  options.columns = {"region", "rating", "since", "visits", "member"};
  options.drop = {"member"};
  options.categories = {"rating"};
  options.ordered = {"region"};
  options.cyclic = {"visits"};
  options.bins = 4;
  const Variables v = Guess(Customers(), options).variables;
  ASSERT_EQ(v.size(), 4);
  EXPECT_EQ(v[0].name, "since");
  EXPECT_EQ(v[0].edges.size(), 5u);
  EXPECT_EQ(v[1].kind, VariableKind::kOrdered);
  EXPECT_THAT(v[1].labels, ElementsAre("east", "north", "south", "west"));
  EXPECT_EQ(v[2].kind, VariableKind::kCyclic);
  EXPECT_EQ(v[3].kind, VariableKind::kNominal);
  EXPECT_EQ(v[3].values, CellValues::kText);
  for (const auto& [change, key] :
       {std::pair<void (*)(TableOptions&), const char*>{[](auto& o) { o.drop = {"nobody"}; }, "drop"},
        {[](auto& o) { o.columns = {"nobody"}; }, "columns"},
        {[](auto& o) { o.categories = {"region"}, o.ordered = {"region"}; }, "ordered"}}) {
    TableOptions wrong;
    change(wrong);
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { Guess(Customers(), wrong); }, key, "names '");
  }
}

TEST_F(GuessTest, RareCategoriesShareAState) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},{}\n", i < 4 ? "rare" : i % 2 ? "x" : "y", i % 30);
  TableOptions options;
  options.rare = 5;
  const Variables v = Guess(text, options).variables;
  EXPECT_THAT(v[0].labels, ElementsAre("x", "y"));
  EXPECT_TRUE(v[0].other);
  options.rare = 4;
  EXPECT_THAT(Guess(text, options).variables[0].labels, ElementsAre("rare", "x", "y"));
  options.max_categories = 2;
  EXPECT_THAT(Guess(text, options).variables[0].labels, ElementsAre("x", "y"));
}

TEST_F(GuessTest, MissingCellsMayLeaveTheirRowsOut) {
  const std::string text = "a,b\nx,1\n,2\ny,3\nx,4\ny,5\nx,6\n";
  EXPECT_TRUE(Guess(text).variables[0].missing);
  TableOptions options;
  options.missing = MissingCells::kOmit;
  EXPECT_FALSE(Guess(text, options).variables[0].missing);
}

TEST_F(GuessTest, OddColumnsAreWarnedOf) {
  std::string text = "a,b,c,class,n\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{0},{0},{1},{2},{3}\n", i % 3, i == 50 ? "unknown" : std::to_string(i % 40), i % 2,
                        i * 7919 % 100003);
  const TableGuess guess = Guess(text);
  EXPECT_THAT(guess.warnings, ElementsAre(HasSubstr("'a' and 'b' are the same"),
                                          HasSubstr("'c' holds numbers but for 1 cells"),
                                          HasSubstr("'class' looks like what is to be predicted"),
                                          HasSubstr("no value of column 'n' occurs twice")));
  EXPECT_TRUE(guess.variables[2].other);
  EXPECT_FALSE(guess.variables[2].edges.empty());
}

TEST_F(GuessTest, HeadersAreTold) {
  EXPECT_TRUE(Profile("age,job\n30,a\n40,b\n").has_header);
  EXPECT_TRUE(Profile("x,y\na,b\nb,b\n").has_header);
  EXPECT_FALSE(Profile("30,a\n40,b\n50,a\n").has_header);
  EXPECT_FALSE(Profile("a,b\nb,b\na,b\n").has_header);
  EXPECT_FALSE(Profile("a,\nb,b\n").has_header);
  EXPECT_FALSE(Profile("x,y\na,b\n", TableHeader::kNo).has_header);
  EXPECT_THAT(Profile("30,a\n40,b\n50,a\n").names, ElementsAre("column_1", "column_2"));
  EXPECT_EQ(Profile("30,a\n40,b\n50,a\n").rows, 3);
  ExpectError(
      ErrorCode::kBadData, [&] { Profile("a,a\n1,2\n", TableHeader::kYes); }, "cannot be a header");
  for (const char* table : {"a,a,b\n1,2,3\n4,5,6\n", "a,,b\n1,2,3\n4,5,6\n"}) {
    ExpectError(
        ErrorCode::kBadData, [&] { Profile(table); }, "looks like a header", "header no");
    EXPECT_EQ(Profile(table, TableHeader::kNo).rows, 3);
  }
  ExpectError(
      ErrorCode::kBadData, [&] { Profile("a,b\n"); }, "no rows");
}

// As pandas writes tables.
TEST_F(GuessTest, NamesThatAreNumbersAreWarnedOf) {
  std::string text = "2019,2020,2021\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{},{}\n", i % 7, i % 5, i % 3);
  EXPECT_THAT(Guess(text).warnings, ElementsAre(HasSubstr("say header yes")));
  TableOptions options;
  options.header = TableHeader::kYes;
  EXPECT_THAT(Guess(text, options).warnings, IsEmpty());
  EXPECT_THAT(Guess("5,9,2\n" + text.substr(15), {}).warnings, IsEmpty());
}

TEST_F(GuessTest, FaultsOfHeadersAreNamed) {
  const auto message = [&](const char* text) {
    return MessageOf(ErrorCode::kBadData, [&] { Profile(text); });
  };
  EXPECT_THAT(message("a,b,a\n1,2,3\n4,5,6\n"), HasSubstr("columns 1 and 3 are both called 'a'"));
  EXPECT_THAT(message("a,,c\n1,2,3\n4,5,6\n"), HasSubstr("column 2 has no name"));
}

// Times of a zone are kept as those of UTC, and written as such.
TEST_F(GuessTest, ZonesAreNotLost) {
  std::string text = "t\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("2024-05-01T{:02}:{:02}:00+02:00\n", 2 + i % 20, i);
  const Variable t = Guess(text).variables[0];
  EXPECT_EQ(t.format, "YYYY-MM-DDThh:mm:ssZ");
  EXPECT_EQ(FormatAs(t.edges[0], t.values, t.edges[0], t.edges[1], t.format), "2024-05-01T00:00:00Z");
}

TEST_F(GuessTest, MessagesAreOnOneLine) {
  std::string text = "a,b\n";
  for (int i = 0; i < 40; ++i) text += i % 2 ? "\"two\nlines\",1.25\n" : "one,2.75\n";
  const TableGuess guess = Guess(text);
  for (const std::string& description : guess.descriptions)
    EXPECT_EQ(description.find('\n'), std::string::npos);
}

TEST_F(GuessTest, AColumnThatNumbersTheRowsIsLeftOut) {
  const std::string table = ",a,b\n0,x,p\n1,y,q\n2,x,q\n3,x,p\n";
  EXPECT_TRUE(Profile(table).has_index);
  EXPECT_EQ(Profile(table).rows, 4);
  const TableGuess guess = Guess(table);
  ASSERT_EQ(guess.variables.size(), 2);
  EXPECT_EQ(guess.variables[0].name, "a");
  EXPECT_FALSE(Profile(",a,b\n7,x,p\n7,y,q\n").has_header);
}

TEST(BinEdges, HoldEquallyManyValues) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0.0);
  EXPECT_THAT(BinEdges(values, 4, Spacing::Whole()), ElementsAre(0, 250, 500, 750, 1000));
  for (const int64_t bins : {2, 7, 16, 100}) {
    const std::vector<double> edges = BinEdges(values, bins, Spacing::Of(values));
    EXPECT_LE(std::ssize(edges) - 1, bins);
    EXPECT_GE(std::ssize(edges) - 1, bins * 3 / 4);
  }
}

TEST(BinEdges, AFrequentValueHasABinOfItsOwn) {
  std::vector<double> values(900, 0.0);
  for (int i = 0; i < 100; ++i) values.push_back(0.5 + i);
  const std::vector<double> edges = BinEdges(values, 8, Spacing::Of(values));
  EXPECT_EQ(edges[0], 0);
  EXPECT_EQ(edges[1], 0.1);
  EXPECT_GT(edges.back(), 99.5);
  EXPECT_LE(edges.size(), 9u);
  const std::vector<double> whole =
      BinEdges(std::vector<double>{3, 3, 3, 3, 9, 9, 9, 9}, 2, Spacing::Whole());
  EXPECT_THAT(whole, ElementsAre(3, 9, 10));
}

TEST(Spacing, IsThatOfTheDecimalsThatAllNeed) {
  EXPECT_EQ(Spacing::Of(std::vector<double>{44.94, 0.1, -3}).decimals(), 2);
  EXPECT_EQ(Spacing::Of(std::vector<double>{44.94, 0.1, -3}).After(44.94), 44.95);
  EXPECT_EQ(Spacing::Of(std::vector<double>{7, 1e15}).decimals(), 0);
  const Spacing unknown = Spacing::Of(std::vector<double>{1.0 / 3, 2});
  EXPECT_EQ(unknown.decimals(), -1);
  EXPECT_EQ(unknown.After(2), std::nextafter(2.0, 3.0));
}

TEST_F(GuessTest, NumbersKeepTheirDecimals) {
  std::string text = "price,measured\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{:.2f},{}\n", 0.37 * (i * 7 % 200), std::sqrt(i));
  const TableGuess guess = Guess(text);
  const Variable& price = guess.variables[0];
  EXPECT_EQ(price.format, "#.00");
  EXPECT_EQ(price.edges.back(), 73.64);
  EXPECT_THAT(guess.descriptions[0], HasSubstr("from 0.00 to 73.63"));
  RandomStream random(1, 2, 3, 4);
  for (int64_t state = 0; state < price.states(); ++state)
    EXPECT_THAT(DecodeState(price, state, random), testing::MatchesRegex("[0-9]+[.][0-9][0-9]"));
  EXPECT_THAT(DescribeState(price, price.states() - 1), testing::EndsWith(" to 73.63"));
  const Variable& measured = guess.variables[1];
  EXPECT_EQ(measured.format, "");
}

TEST_F(GuessTest, WhatIsToBePredictedIsWarnedOf) {
  const auto warnings = [&](const std::string& name, const char* first, const char* second) {
    std::string text = "a," + name + ",b\n";
    for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{}\n", i % 3, i % 2 ? first : second, i % 5);
    return Guess(text).warnings;
  };
  for (const char* name : {"species", "Survived", "churn", "is_fraud", "isFraud", "target_2024", "Class"})
    EXPECT_THAT(warnings(name, "no", "yes"), ElementsAre(HasSubstr("to be predicted"))) << name;
  for (const char* name : {"fraudster_age", "classic", "colour", "my_class_of_car"})
    EXPECT_THAT(warnings(name, "no", "yes"), IsEmpty()) << name;
  std::string last = "a,income\n";
  for (int i = 0; i < 60; ++i) last += fmt::format("{},{}\n", i % 3, i % 2 ? ">50K" : "<=50K");
  EXPECT_THAT(Guess(last).warnings, ElementsAre(HasSubstr("'income' looks like what is to be predicted")));
}

TEST_F(GuessTest, ColumnsAreLeftOutForAReason) {
  TableOptions options;
  options.columns = {"a", "b"};
  options.drop = {"b"};
  const TableGuess guess = Guess("a,b,c\n1,2,3\n0,3,4\n", options);
  ASSERT_EQ(guess.dropped.size(), 2);
  EXPECT_EQ(guess.dropped[0].why, "is named in drop");
  EXPECT_EQ(guess.dropped[1].why, "is not named in columns");
}

TEST_F(GuessTest, WhereNothingIsLeftItIsToldWhatToDo) {
  std::string ids = "id\n", same = "a,b\n";
  for (int i = 0; i < 30; ++i) {
    ids += fmt::format("x{}\n", i);
    same += "x,1\n";
  }
  const auto refused = [&](const std::string& text, const TableOptions& options, const char* advice) {
    ExpectError(
        ErrorCode::kBadData, [&] { Guess(text, options); }, "no column is left to learn", advice);
  };
  refused(ids, {}, "identifies rows (no value occurs twice); name in categories or ordered");
  refused(same, {}, "2 columns have the same value in every row; give rows that differ");
  refused(same, {.drop = {"a", "b"}}, "name other columns in columns or drop");
}

TEST_F(GuessTest, ThousandsOfStatesAreWarnedOf) {
  std::string text = "product,kind\n";
  for (int i = 0; i < 4800; ++i) text += fmt::format("P{},{}\n", i % 1200, i % 3);
  EXPECT_THAT(Guess(text, {.max_categories = 2000}).warnings,
              ElementsAre(HasSubstr("'product' becomes 1201 states")));
  const TableGuess usual = Guess(text);
  EXPECT_EQ(usual.variables.dimension(), 101 + 3);
  EXPECT_THAT(usual.warnings, ElementsAre(HasSubstr("4400 of 4800 rows have categories that are rare")));
}

TEST_F(GuessTest, LabelsWithCommasHaveQuotesInLists) {
  std::string text = "place,kind\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("\"{}\",{}\n", i % 2 ? "East, far" : "West", i % 3);
  EXPECT_EQ(Guess(text).descriptions[0], "nominal, 2 categories: 'East, far', West, and others");
}

TEST_F(GuessTest, TheFileOfVariablesReadsBack) {
  const TableGuess guess = Guess(Customers());
  const std::string path = folder_.File("variables.toml");
  WriteBytes(path, WriteVariables(guess.variables, guess.dropped));
  EXPECT_EQ(ReadVariables(path), guess.variables);
  EXPECT_THAT(ReadBytes(path), HasSubstr("# name is left out: it identifies rows"));
  const std::pair<const char*, const char*> bad[] = {
      {"[[variable]]\nname = 3\n", "variables.toml:2: name must be text in quotes"},
      {"[[variable]]\nname = \"a\"\nkind = \"sorted\"\n", "variables.toml:3: kind must be binary"},
      {"[[variable]]\nname = \"a\"\ncolour = 3\n", "variables.toml:3: 'colour' is unknown"},
      {"[[variable]]\nname = \"a\"\nkind = \"nominal\"\nlabels = [1]\n", "variables.toml:4: labels"},
      {"[[variables]]\nname = \"a\"\n", "'variables' is unknown"},
      {"[[variable]]\nname = \"a\"\n[[variable]]\nname = \"a\"\n", "'a' occurs twice"},
      {"", "no variables"},
      {"[[variable\n", "variables.toml:1"},
      {"\n[[variable]]\nname = \"a\"\nkind = \"ordered\"\nvalues = \"number\"\nedges = [1, 3, 2]\n",
       "variables.toml:2: the variable 'a' has edges that do not rise; write them from"},
  };
  for (const auto& [text, why] : bad) {
    WriteBytes(path, text);
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { ReadVariables(path); }, why);
  }
  ExpectError(
      ErrorCode::kIo, [&] { ReadVariables(folder_.File("nowhere.toml")); }, "nowhere.toml");
}

TEST_F(GuessTest, FormatsOfTheFileMustReadBack) {
  const auto read = [&](const char* values, const char* format) {
    WriteBytes(folder_.File("v.toml"),
               fmt::format("[[variable]]\nname = \"a\"\nkind = \"ordered\"\nformat = \"{}\"\n"
                           "values = \"{}\"\nedges = [1, 2, 3]\n",
                           format, values));
    return ReadVariables(folder_.File("v.toml"));
  };
  const std::pair<const char*, const char*> good[] = {
      {"number", "$#,###.00"}, {"integer", "#.###"}, {"number", "#,#"},      {"integer", "# EUR"},
      {"integer", "#%"},       {"date", "D.M.YYYY"}, {"date", "MM/DD/YYYY"}, {"time", "DD/MM/YYYY hh:mm"},
      {"clock", "h:mm"}};
  for (const auto& [values, format] : good) EXPECT_EQ(read(values, format)[0].format, format);
  const std::pair<const char*, const char*> bad[] = {{"number", "nonsense"}, {"integer", "# parsecs"},
                                                     {"date", "YY"},         {"date", "hh:mm"},
                                                     {"clock", "#%"},        {"time", "DD/MM/YYYY"}};
  for (const auto& [values, format] : bad)
    EXPECT_THAT(MessageOf(ErrorCode::kInvalidArgument, [&] { read(values, format); }),
                AllOf(HasSubstr("v.toml:4"), HasSubstr(format), HasSubstr("write ")))
        << format;
}

TEST(ColumnProfile, MemoryIsBounded) {
  ColumnProfile column;
  for (int i = 0; i < 300000; ++i) column.Add(std::to_string(i * 3), false);
  EXPECT_TRUE(column.too_many_texts());
  EXPECT_EQ(column.texts().size(), ColumnProfile::kMostTexts);
  const std::vector<double> numbers = column.SortedNumbers();
  ASSERT_EQ(numbers.size(), ColumnProfile::kMostNumbers);
  EXPECT_NEAR(numbers[numbers.size() / 2], 450000, 9000);  // 9 standard errors of the median
  EXPECT_EQ(column.largest(), 3.0 * 299999);
}

}  // namespace
}  // namespace ort_ed
