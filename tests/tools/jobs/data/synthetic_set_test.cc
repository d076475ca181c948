#include "tools/jobs/data/synthetic_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<uint8_t> Rows(const SyntheticSet& set, int64_t rows, uint64_t seed) {
  std::vector<uint8_t> all;
  Observer nobody;
  set.Draw(
      rows, seed, [&](std::span<const uint8_t> block) { all.insert(all.end(), block.begin(), block.end()); },
      nobody);
  return all;
}

TEST(SyntheticSets, ManyRowsBeginWithFewAndDependOnTheSeed) {
  for (const SyntheticKind& kind : SyntheticSets()) {
    Choice choice = kind.name;
    if (kind.schema().Find("steps") != nullptr) choice.options["steps"] = int64_t{30};
    const auto set = MakeSyntheticSet(choice);
    const std::vector<uint8_t> few = Rows(*set, 5, 1), many = Rows(*set, 4100, 1);
    ASSERT_EQ(std::ssize(few), 5 * set->columns()) << kind.name;
    ASSERT_EQ(std::ssize(many), 4100 * set->columns()) << kind.name;
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << kind.name;
    EXPECT_NE(Rows(*set, 5, 2), few) << kind.name;
  }
}

TEST(SyntheticSets, EndlessRowsAreTheDrawnOnes) {
  const auto set = MakeSyntheticSet("moons");
  const std::vector<uint8_t> drawn = Rows(*set, 5000, 3);
  std::vector<uint8_t> row(32);
  const auto source = set->Endless(3);
  for (const int64_t n : {4999, 0, 4096}) {
    source->Draw(n, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), drawn.begin() + n * 32)) << n;
  }
  EXPECT_EQ(MakeSyntheticSet("ising")->Endless(3), nullptr);
}

TEST(SyntheticSets, IsingKeepsItsCouplings) {
  const auto set = MakeSyntheticSet({"ising", {{"shape", "1x3"}, {"sigma", 0.5}}});
  EXPECT_THAT(set->Couplings(), ElementsAre(0, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0));
}

TEST(SyntheticSets, ThreadsAndRestsOfSweepsChangeNoRow) {
  const Choice choice("ising", {{"shape", "3x4"}, {"steps", int64_t{125}}});
  EXPECT_EQ(Rows(*MakeSyntheticSet(choice, 1), 50, 1), Rows(*MakeSyntheticSet(choice, 2), 50, 1));
}

class Impatient : public Observer {
  bool StopRequested() override { return true; }
};

TEST(SyntheticSets, DrawingStopsWhereTheObserverAsks) {
  Impatient observer;
  for (const char* name : {"moons", "ising"})
    ExpectError(ErrorCode::kInterrupted, [&] {
      MakeSyntheticSet(name)->Draw(
          10, 1, [](std::span<const uint8_t>) {}, observer);
    });
}

TEST(SyntheticSets, MistakesNameTheOption) {
  const auto refusal = [](const Choice& choice) {
    return std::string(ErrorOf([&] { MakeSyntheticSet(choice); }).what());
  };
  EXPECT_THAT(refusal("moon"), HasSubstr("name must be one of 2spirals"));
  EXPECT_THAT(refusal({"ising", {{"shape", "65x64"}}}), HasSubstr("shape must have at most 4096 spins"));
  EXPECT_THAT(refusal({"ising", {{"shape", "8"}}}), HasSubstr("shape must be a height and a width"));
  EXPECT_THAT(refusal({"ising", {{"steps", int64_t{-1}}}}), HasSubstr("steps must lie in"));
  EXPECT_THAT(refusal({"moons", {{"steps", int64_t{1}}}}), HasSubstr("steps is no option of moons"));
}

TEST(ParseSynthetic, NameOptionsAndRows) {
  const SyntheticData ising = ParseSynthetic("synth:ising:shape=4x4,sigma=0.1,rows=100,steps=1000");
  EXPECT_EQ(ising.set.kind, "ising");
  EXPECT_EQ(ising.rows, 100);
  EXPECT_THAT(ising.set.options,
              ElementsAre(Pair("shape", OptionValue("4x4")), Pair("sigma", OptionValue("0.1")),
                          Pair("steps", OptionValue("1000"))));
  EXPECT_EQ(ParseSynthetic("synth:ising").rows, 2000);
  EXPECT_EQ(ParseSynthetic("synth:moons").rows, std::nullopt);
}

TEST(ParseSynthetic, MistakesAreOfTheData) {
  const auto refusal = [](const std::string& data) {
    try {
      ParseSynthetic(data);
    } catch (const OptionError& error) {
      EXPECT_EQ(error.key(), "data");
      return error.reason();
    }
    return std::string();
  };
  EXPECT_THAT(refusal("synth:nothing"),
              HasSubstr("synth:nothing, which is not known; there are synth:2spirals"));
  EXPECT_EQ(refusal("synth:ising:sigma=big"), "names synth:ising, whose sigma must be a number, not 'big'");
  EXPECT_THAT(refusal("synth:ising:colour=red"),
              HasSubstr("no option colour; there are shape, sigma, steps, rows"));
  EXPECT_THAT(refusal("synth:ising:rows=1"), HasSubstr("rows must be a whole number of at least 2"));
  EXPECT_EQ(refusal("synth:moons:rows=3"), "names synth:moons, which takes no options");
}

}  // namespace
}  // namespace ort_ed
