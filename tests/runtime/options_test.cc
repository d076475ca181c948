#include "ort_ed/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StrEq;

enum class Scan { kSystematic, kRandom };

struct GibbsOptions {
  Scan scan = Scan::kSystematic;
  int64_t updates = 0;
  static void Describe(Declare<GibbsOptions>& declare) {
    declare("scan", &GibbsOptions::scan, {{"systematic", Scan::kSystematic}, {"random", Scan::kRandom}},
            "order of updates");
    declare("updates", &GibbsOptions::updates, "[0, inf)", "updates of a step");
  }
};

struct FlipOptions {
  int flips = 1;
  static void Describe(Declare<FlipOptions>& declare) {
    declare("flips", &FlipOptions::flips, "[1, 100]", "proposed at once");
  }
};

KindTable Kinds();

struct TemperingOptions {
  Choice inner = {"gibbs"};
  int temperatures = 8;
  static void Describe(Declare<TemperingOptions>& declare) {
    declare("inner", &TemperingOptions::inner, Kinds, "at each temperature");
    declare("temperatures", &TemperingOptions::temperatures, "[2, 1000]", "how many");
  }
};

KindTable Kinds() {
  return {{{"gibbs", "one by one", &SchemaOf<GibbsOptions>()},
           {"gwg", "by gain", &SchemaOf<FlipOptions>()},
           {"tempering", "around another", &SchemaOf<TemperingOptions>()}}};
}

KindTable JoinedKinds() {
  KindTable table = Kinds();
  table.joined = true;
  return table;
}

struct Limits {
  double clip = 5;
  bool strict = false;
  double threshold = 0.5;
  static void Describe(Declare<Limits>& declare) {
    declare("clip", &Limits::clip, "[0, inf)", "largest norm").Formerly("clip_norm");
    declare("strict", &Limits::strict, "", "refuse");
    declare("threshold", &Limits::threshold, "[0, 1]", "cut").When("strict", "true");
  }
};

struct Everything {
  std::string name = "x";
  std::optional<int64_t> rows;
  std::vector<double> levels = {0.1};
  std::vector<std::string> patterns = {"*"};
  Period every = {.steps = 50};
  Choice sampler = {"gibbs"};
  Choice methods = {"gwg"};
  Limits limits;
  static void Describe(Declare<Everything>& declare) {
    declare.Section("first");
    declare("name", &Everything::name, "a|x", "a name");
    declare("rows", &Everything::rows, "[1, inf)", "how many");
    declare("levels", &Everything::levels, "(0, 1)", "of noise");
    declare("patterns", &Everything::patterns, "PATTERN,...", "of names");
    declare("every", &Everything::every, "", "between lines");
    declare("sampler", &Everything::sampler, Kinds, "how chains move").Prefix("sampler_");
    declare("methods", &Everything::methods, JoinedKinds, "several");
    declare.Section("second");
    declare.All(&Everything::limits);
  }
};

GivenOptions Give(std::initializer_list<std::pair<const char*, const char*>> options,
                  const std::string& origin = "--") {
  GivenOptions given;
  for (const auto& [key, value] : options) given.Add(key, std::string(value), origin + key);
  return given;
}

std::string Refusal(std::initializer_list<std::pair<const char*, const char*>> options) {
  try {
    Everything everything;
    Give(options).ApplyTo(everything);
  } catch (const OptionError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, EveryPlaceOfAListHoldsANumber) {
  for (const char* levels : {"", "0.1,", ",0.1", "0.1,,0.2"})
    EXPECT_EQ(Refusal({{"name", "a"}, {"levels", levels}}),
              "levels must be a number, not '" + std::string(levels) + "'");
  for (const char* integers : {"3,", "3,,3", ","})
    EXPECT_THROW(ParseOption(OptionType::kIntegers, integers), std::invalid_argument) << integers;
}

struct Lengths {
  std::optional<Period> time;
  Choice sampler = {"gibbs"};
  std::string asked_sampler;
  static void Describe(Declare<Lengths>& declare) {
    declare("time", &Lengths::time, "TIME", "how long");
    declare("sampler", &Lengths::sampler, Kinds, "how chains move");
    declare("sampler", &Lengths::asked_sampler, "", "how chains move");
  }
};

TEST(Options, TimesHaveAUnit) {
  EXPECT_EQ(MakeOptions<Lengths>({{"time", "1.5h"}}).time->seconds, 5400);
  EXPECT_FALSE(MakeOptions<Lengths>({}).time);
  CheckOptions(MakeOptions<Lengths>({{"time", "10m"}}));
  for (const OptionValue& bad : {OptionValue("10"), OptionValue(int64_t{10}), OptionValue("ten"),
                                 OptionValue("0m"), OptionValue("s"), OptionValue("-1s")}) {
    try {
      MakeOptions<Lengths>({{"time", bad}});
      ADD_FAILURE() << FormatOption(bad);
    } catch (const OptionError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "time must be a time above 0 with its unit: 30s, 10m, 2h or 1.5h, not '" + FormatOption(bad) + "'");
    }
  }
}

TEST(Options, AMemberMayTellWhetherAChoiceWasMade) {
  const Lengths silent = MakeOptions<Lengths>({}), said = MakeOptions<Lengths>({{"sampler", "gibbs"}});
  EXPECT_EQ(silent.asked_sampler, "");
  EXPECT_EQ(said.asked_sampler, "gibbs");
  for (const Lengths& each : {silent, said})
    EXPECT_EQ(GetOptions(SchemaOf<Lengths>(), &each).at("sampler"), OptionValue("gibbs"));
}

TEST(Options, TextBecomesMembersOfEveryType) {
  Everything e;
  Give({{"name", "a"},
        {"rows", "7"},
        {"levels", "0.1,0.25"},
        {"patterns", "G,b*"},
        {"every", "5m"},
        {"clip", "2"},
        {"strict", "true"},
        {"threshold", "0.25"}})
      .ApplyTo(e);
  EXPECT_EQ(e.name, "a");
  EXPECT_EQ(e.rows, 7);
  EXPECT_THAT(e.levels, ElementsAre(0.1, 0.25));
  EXPECT_THAT(e.patterns, ElementsAre("G", "b*"));
  EXPECT_EQ(e.every.seconds, 300);
  EXPECT_EQ(e.limits.clip, 2);
  EXPECT_TRUE(e.limits.strict);
}

TEST(Options, MistakesNameTheOptionAndWhatIsWanted) {
  EXPECT_THAT(Refusal({{"clip", "-1"}}), StrEq("clip must lie in [0, inf), not -1"));
  EXPECT_THAT(Refusal({{"clip", "much"}}), StrEq("clip must be a number, not 'much'"));
  EXPECT_THAT(Refusal({{"rows", "1.5"}}), StrEq("rows must be a whole number, not '1.5'"));
  EXPECT_THAT(Refusal({{"name", "b"}}), StrEq("name must be one of a, x, not 'b'"));
  EXPECT_THAT(Refusal({{"sampler", "no"}}), StrEq("sampler must be one of gibbs, gwg, tempering, not 'no'"));
  EXPECT_THAT(Refusal({{"sampler", "gwg"}, {"sampler_flips", "0"}}), HasSubstr("sampler_flips must lie in"));
  EXPECT_THAT(Refusal({{"sampler_scan", "odd"}}),
              HasSubstr("sampler_scan must be one of systematic, random"));
  EXPECT_THAT(Refusal({{"nothing", "1"}}), HasSubstr("nothing is not known; there are name, rows"));
}

struct Count {
  int count = 0;
  static void Describe(Declare<Count>& declare) { declare("count", &Count::count, "[0, inf)", "how many"); }
};

TEST(Options, NumbersThatTheMemberCannotHoldAreRefused) {
  EXPECT_EQ(MakeOptions<Count>({{"count", "2147483647"}}).count, 2147483647);
  for (const char* text : {"2147483648", "4294967297"})
    EXPECT_THROW(MakeOptions<Count>({{"count", text}}), OptionError) << text;
}

TEST(Options, WhatHasNoEffectIsRefused) {
  EXPECT_THAT(Refusal({{"sampler_flips", "2"}}),
              StrEq("sampler_flips has no effect with sampler gibbs; it belongs to gwg"));
  EXPECT_THAT(Refusal({{"threshold", "0.2"}}), StrEq("threshold has no effect without strict"));
  EXPECT_EQ(Refusal({{"strict", "true"}, {"threshold", "0.2"}}), "");
}

TEST(Options, AStructInsideMayHaveAConditionOfItsOwn) {
  struct Outer {
    std::string kind = "a";
    Limits limits;
    static void Describe(Declare<Outer>& declare) {
      declare("kind", &Outer::kind, "a|b", "which");
      declare.All(&Outer::limits, Option::Condition{"kind", "b"});
    }
  };
  EXPECT_EQ(MakeOptions<Outer>({{"kind", "b"}, {"clip", 2.0}}).limits.clip, 2);
  EXPECT_THROW(MakeOptions<Outer>({{"clip", 2.0}}), OptionError);
  EXPECT_THROW(MakeOptions<Outer>({{"kind", "b"}, {"threshold", 0.2}}), OptionError);
}

TEST(Options, AConditionMaySayWhatTheOtherMustNotBe) {
  struct Drawn {
    std::string kind = "chance";
    int64_t seed = 0;
    static void Describe(Declare<Drawn>& declare) {
      declare("kind", &Drawn::kind, "chance|exact|stored", "which");
      declare("seed", &Drawn::seed, "[0, inf)", "of chance").When("kind", "!exact|stored");
    }
  };
  EXPECT_EQ(MakeOptions<Drawn>({{"seed", 3}}).seed, 3);
  for (const char* kind : {"exact", "stored"})
    EXPECT_THROW(MakeOptions<Drawn>({{"kind", kind}, {"seed", 3}}), OptionError) << kind;
}

TEST(Options, AKeyThatSeveralShareIsRefusedWhereItHasAnEffectForNone) {
  struct Both {
    bool first = false, second = false;
    int64_t steps_of_first = 1, steps_of_second = 1;
    static void Describe(Declare<Both>& declare) {
      declare("first", &Both::first, "", "one part");
      declare("second", &Both::second, "", "the other");
      declare("steps", &Both::steps_of_first, "[1, inf)", "of the first").When("first", "true");
      declare("steps", &Both::steps_of_second, "[1, inf)", "of the second").When("second", "true");
    }
  };
  EXPECT_EQ(MakeOptions<Both>({{"steps", 5}, {"first", true}}).steps_of_first, 5);
  EXPECT_EQ(MakeOptions<Both>({{"steps", 5}, {"second", true}}).steps_of_second, 5);
  EXPECT_THROW(MakeOptions<Both>({{"steps", 5}}), OptionError);
}

TEST(Options, FilesMayNameWhatIsAtItsDefault) {
  GivenOptions given = Give({{"threshold", "0.5"}}, "run.toml:");
  given.AllowDefaultsFrom("run.toml:");
  Everything e;
  given.ApplyTo(e);
  GivenOptions other = Give({{"threshold", "0.4"}}, "run.toml:");
  other.AllowDefaultsFrom("run.toml:");
  EXPECT_THROW(other.ApplyTo(e), OptionError);
}

TEST(Options, FilesThatWereAcceptedOnceMayNameAnything) {
  GivenOptions given = Give({{"threshold", "0.4"}, {"sampler_flips", "2"}}, "run.toml:");
  given.AllowIdleFrom("run.toml:");
  Everything e;
  given.ApplyTo(e);
  EXPECT_TRUE(e.sampler.options.empty());
}

TEST(Options, KindsKeepTheirOwnOptions) {
  Everything e;
  Give({{"sampler", "tempering"},
        {"sampler_inner", "gwg"},
        {"sampler_flips", "3"},
        {"methods", "gwg+gibbs"},
        {"flips", "2"},
        {"updates", "9"}})
      .ApplyTo(e);
  const auto tempering = MakeOptions<TemperingOptions>(e.sampler.options);
  EXPECT_EQ(tempering.inner.kind, "gwg");
  EXPECT_EQ(MakeOptions<FlipOptions>(tempering.inner.options).flips, 3);
  const auto kinds = Resolve(e.methods, JoinedKinds(), "methods");
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(MakeOptions<FlipOptions>(kinds[0].options).flips, 2);
  EXPECT_EQ(MakeOptions<GibbsOptions>(kinds[1].options).updates, 9);
}

// What the struct and a kind of its choice both have by one name is given to both, in whatever order they are
// declared.
template <bool kSamplerFirst>
struct Shared {
  Choice sampler = {"gibbs"};
  Choice method = {"tempering"};
  int temperatures = 1;
  static void Describe(Declare<Shared>& declare) {
    if (kSamplerFirst) declare("sampler", &Shared::sampler, Kinds, "how chains move");
    declare("method", &Shared::method, Kinds, "how");
    if (!kSamplerFirst) declare("sampler", &Shared::sampler, Kinds, "how chains move");
    declare("temperatures", &Shared::temperatures, "[1, 10]", "how many");
  }
};

template <bool kSamplerFirst>
void ExpectShared() {
  Shared<kSamplerFirst> shared;
  Give({{"inner", "gwg"}, {"flips", "3"}, {"sampler", "gwg"}, {"temperatures", "4"}}).ApplyTo(shared);
  EXPECT_EQ(shared.temperatures, 4);
  EXPECT_EQ(MakeOptions<FlipOptions>(shared.sampler.options).flips, 3);
  const auto tempering = MakeOptions<TemperingOptions>(shared.method.options);
  EXPECT_EQ(tempering.temperatures, 4);
  EXPECT_EQ(MakeOptions<FlipOptions>(tempering.inner.options).flips, 3);
  for (const VisibleOption& each : VisibleOptions(SchemaOf<Shared<kSamplerFirst>>()))
    EXPECT_EQ(each.kinds.empty(), each.key == "sampler" || each.key == "method" || each.key == "temperatures")
        << each.key;
}

TEST(Options, OneNameMayServeTheStructAndAKind) {
  ExpectShared<true>();
  ExpectShared<false>();
}

TEST(Options, GetGivesBackWhatWasSet) {
  Everything e;
  Give({{"sampler", "gwg"}, {"sampler_flips", "3"}, {"every", "10"}}).ApplyTo(e);
  const OptionMap values = GetOptions(SchemaOf<Everything>(), &e);
  EXPECT_THAT(values, testing::Contains(Pair("sampler_flips", OptionValue(int64_t{3}))));
  EXPECT_FALSE(values.contains("threshold"));  // without effect
  Everything copy;
  OptionMap given = values;
  std::erase_if(given, [](const auto& each) { return std::holds_alternative<Nothing>(each.second); });
  SetOptions(SchemaOf<Everything>(), &copy, given);
  EXPECT_EQ(GetOptions(SchemaOf<Everything>(), &copy), values);
}

TEST(Options, FormerSpellingsStillWork) {
  Everything e;
  Give({{"clip_norm", "3"}}).ApplyTo(e);
  EXPECT_EQ(e.limits.clip, 3);
}

TEST(Options, WhatCodeSetsIsCheckedToo) {
  Everything e;
  e.limits.clip = -1;
  EXPECT_THROW(CheckOptions(e), OptionError);
  e.limits.clip = 1;
  e.sampler = {"gwg", {{"flips", 0}}};
  EXPECT_THROW(CheckOptions(e), OptionError);
  e.sampler = {"gwg", {{"scan", "random"}}};
  EXPECT_THROW(CheckOptions(e), OptionError);
  e.sampler = {"gwg", {{"flips", 2}}};
  CheckOptions(e);
}

TEST(Options, EveryOptionIsVisibleOnceWithItsKinds) {
  std::vector<std::string> keys;
  for (const VisibleOption& each : VisibleOptions(SchemaOf<Everything>())) keys.push_back(each.key);
  EXPECT_THAT(keys,
              testing::IsSupersetOf({"name", "sampler", "sampler_flips", "sampler_inner", "flips", "clip"}));
  EXPECT_EQ(std::count(keys.begin(), keys.end(), "flips"), 1);
}

}  // namespace
}  // namespace ort_ed
