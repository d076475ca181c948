#include "ort_ed/variables.h"

#include <array>

#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::HasSubstr;

Variable Colour() {
  return {.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "blue"}, .other = true};
}
Variable Age() {
  return {.name = "age",
          .kind = VariableKind::kOrdered,
          .values = CellValues::kInteger,
          .edges = {17, 30.5, 45, 91},
          .missing = true};
}
Variable Married() { return {.name = "married", .labels = {"no", "yes"}}; }
Variables Mixed() { return Variables({Colour(), Married(), Age()}); }

TEST(Variables, AreBinaryWhereNothingIsKnown) {
  const Variables plain = Variables::Binary(5);
  EXPECT_TRUE(plain.all_binary());
  EXPECT_FALSE(plain.described());
  EXPECT_EQ(plain.size(), 5);
  EXPECT_EQ(plain.dimension(), 5);
  EXPECT_EQ(plain.states(3), 2);
  EXPECT_EQ(plain.first_bit(3), 3);
  EXPECT_EQ(plain.variable_of(4), 4);
  EXPECT_EQ(plain.most_states(), 2);
  EXPECT_EQ(plain.BitName(2), "variable 3 = 1");
  EXPECT_FALSE(plain.FindBroken(std::array<uint8_t, 5>{1, 1, 1, 0, 0}));
}

TEST(Variables, LieOneBehindTheOther) {
  const Variables mixed = Mixed();
  EXPECT_FALSE(mixed.all_binary());
  EXPECT_EQ(mixed.size(), 3);
  EXPECT_EQ(mixed.dimension(), 3 + 1 + 4);
  EXPECT_EQ(mixed.first_bit(2), 4);
  EXPECT_EQ(mixed.bits(1), 1);
  EXPECT_EQ(mixed.states(1), 2);
  EXPECT_EQ(mixed.states(2), 4);
  EXPECT_EQ(mixed.most_states(), 4);
  const int64_t owners[] = {0, 0, 0, 1, 2, 2, 2, 2};
  for (int64_t bit = 0; bit < 8; ++bit) EXPECT_EQ(mixed.variable_of(bit), owners[bit]);
  EXPECT_EQ(mixed.Find("age"), 2);
  EXPECT_EQ(mixed.Find("Age"), std::nullopt);
  EXPECT_EQ(mixed.BitName(2), "colour = (other)");
  EXPECT_EQ(mixed.BitName(3), "married = yes");
  EXPECT_EQ(mixed.BitName(4), "age = 17 to 30");
  EXPECT_EQ(mixed.BitName(7), "age = (missing)");
}

TEST(Variables, AreReadSetAndMoved) {
  const Variables mixed = Mixed();
  std::array<float, 8> row{0, 1, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(mixed.State(row.data(), 0), 1);
  EXPECT_EQ(mixed.State(row.data(), 1), 0);
  mixed.SetState(row.data(), 2, 3);
  mixed.Move(row.data(), 3);
  mixed.Move(row.data(), 0);
  mixed.Move(row.data(), 0);
  EXPECT_EQ(row, (std::array<float, 8>{1, 0, 0, 1, 0, 0, 0, 1}));
  mixed.Move(row.data(), 3);
  EXPECT_EQ(row[3], 0);
  EXPECT_FALSE(mixed.FindBroken(row));
}

TEST(Variables, RowsWithNoOrSeveralOnesAreFound) {
  const Variables mixed = Mixed();
  const std::array<uint8_t, 8> good{1, 0, 0, 1, 0, 0, 0, 1}, none{0, 0, 0, 0, 1, 0, 0, 0},
      two{1, 0, 0, 0, 1, 0, 0, 1};
  EXPECT_EQ(mixed.FindBroken(good), std::nullopt);
  EXPECT_EQ(mixed.FindBroken(none), 0);
  EXPECT_EQ(mixed.FindBroken(two), 2);
  EXPECT_THAT(mixed.DescribeBroken(none, 0), HasSubstr("'colour' (columns 1 to 3, from 1) have no one"));
  EXPECT_THAT(mixed.DescribeBroken(two, 2), HasSubstr("'age' (columns 5 to 8, from 1) have 2 ones"));
}

TEST(Variables, TextReadsBackAsTheSame) {
  Variable odd = Colour();
  odd.name = "a \"quoted\"\\name\n\xC3\xA9";
  odd.labels = {"", "\t", "[", ","};
  odd.kind = VariableKind::kCyclic;
  Variable date = Age();
  date.name = "since";
  date.values = CellValues::kDate;
  date.edges = {-1e300, 5e-324, 0.1, 1e17};
  const Variables all({odd, date, Married(), {.name = "bare"}});
  EXPECT_EQ(ParseVariables(FormatVariables(all)), all);
  EXPECT_EQ(FormatVariables(Variables({{.name = "a"}, Married()})),
            R"([{"name":"a"},{"name":"married","labels":["no","yes"]}])");
  EXPECT_TRUE(ParseVariables(R"([ {"name" : "a"} , {"name":"b"} ])").all_binary());
  EXPECT_EQ(ParseVariables(R"([{"name":"\u00e9\ud83d\ude00\/"}])")[0].name, "\xC3\xA9\xF0\x9F\x98\x80/");
}

TEST(Variables, ListsThatCannotBeAreRefusedByName) {
  const auto refuse = [](Variable variable, const char* why) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { Variables({variable}); }, "'" + variable.name + "'", why);
  };
  Variable v = Colour();
  v.labels = {"red", "red"};
  refuse(v, "'red' twice");
  v.labels = {};
  refuse(v, "fewer than two");
  v = Age();
  v.edges = {1, 1, 2};
  refuse(v, "rise");
  v = Age();
  v.edges = {1};
  refuse(v, "fewer than two");
  v = Age();
  v.labels = {"a"};
  refuse(v, "labels and edges");
  v = Age();
  v.values = CellValues::kText;
  refuse(v, "text");
  v = Married();
  v.missing = true;
  refuse(v, "binary");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        Variables({Age(), Age()});
      },
      "'age' occurs twice");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { Variables({Variable{}}); }, "no name");
}

TEST(Variables, TextThatIsWrongIsRefused) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "byte 1: '[' is expected"},
      {"[]", "no variables"},
      {"[{\"name\":\"a\"}", "']' is expected"},
      {"[{\"name\":\"a\"}] x", "byte 16: the text should end"},
      {"[{\"name\":\"a\",}]", "'\"' is expected"},
      {"[{\"name\":\"a\" \"b\"}]", "'}' is expected"},
      {"[{\"name\":\"a\",\"name\":\"b\"}]", "'name' occurs twice"},
      {"[{\"name\":\"a\",\"colour\":1}]", "'colour' is unknown"},
      {"[{\"name\":\"a\",\"kind\":\"sorted\"}]", "'sorted' is no kind"},
      {"[{\"name\":\"a\",\"values\":\"floats\"}]", "'floats' is none of"},
      {"[{\"name\":\"a\",\"other\":1}]", "true or false"},
      {"[{\"name\":\"a\",\"edges\":[nan]}]", "a finite number"},
      {"[{\"name\":\"a\",\"edges\":[1e999]}]", "a finite number"},
      {"[{\"name\":\"a\\x\"}]", "unknown escape"},
      {"[{\"name\":\"\\ud800\"}]", "half a character"},
      {"[{\"name\":\"\\u12g4\"}]", "hexadecimal"},
      {"[{\"name\":\"a\nb\"}]", "control character"},
      {"[{\"name\":\"a", "ends within quotes"},
      {"[{\"name\":\"a\"},{\"name\":\"a\"}]", "occurs twice"},
      {"[{\"kind\":\"nominal\"}]", "no name"},
  };
  for (const auto& [text, why] : bad)
    ExpectError(
        ErrorCode::kBadData, [&] { ParseVariables(text); }, why);
}

}  // namespace
}  // namespace ort_ed
