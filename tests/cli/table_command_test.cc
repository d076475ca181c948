// Tables as they lie in companies, from training to scores.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

// Drinks of people: the drink goes with the age, the size with the drink.
std::string Drinks(int rows, int first_id = 1000) {
  std::mt19937 random(7);
  std::string text =
      "\xef\xbb\xbf"
      "id,age,drink,size,member,shop\r\n";
  const char* drinks[] = {"milk", "tea", "coffee, black"};
  const char* sizes[] = {"S", "M", "L"};
  for (int i = 0; i < rows; ++i) {
    const int age = 1 + static_cast<int>(random() % 90);
    const int drink = random() % 10 == 0 ? static_cast<int>(random() % 3) : age / 31;
    text += std::to_string(first_id + i) + "," + (random() % 20 == 0 ? "" : std::to_string(age)) + ",\"" +
            drinks[drink] + "\"," + sizes[drink] + "," + (random() % 2 ? "true" : "false") + ",Bonn\r\n";
  }
  return text;
}

class TableCommand : public ::testing::Test {
 protected:
  TableCommand() { WriteBytes(Path("drinks.csv"), Drinks(400)); }

  std::string Path(const std::string& name) const { return dir_.File(name); }

  // Without the shop, which says nothing.
  CommandResult Train() { return Train({"--drop", "shop"}); }
  CommandResult Train(const Arguments& more, const std::string& run = "run") {
    Arguments arguments = {"train",     "--data", Path("drinks.csv"), "-o", Path(run),      "--steps", "30",
                           "--threads", "1",      "--hidden",         "16", "--batch-size", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    // A base would take longer to learn, and have nothing to do with what is tested here.
    const Arguments uniform = {"--method", "uniform"};
    if (std::ranges::find(more, "--method") == more.end())
      arguments.insert(arguments.end(), uniform.begin(), uniform.end());
    return RunOrtEd(arguments);
  }
  CommandResult Score(const std::string& text, const Arguments& more = {}) {
    WriteBytes(Path("new.csv"), text);
    Arguments arguments = {"score", Path("run/model.onnx"), Path("new.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunOrtEd(arguments);
  }

  TempDir dir_;
};

TEST_F(TableCommand, OfFewStatesIsLearnedByNoiseAndOfManyOnABase) {
  WriteBytes(Path("drinks.csv"), Drinks(1200));  // 1,080 to train on
  const auto train = [&](const std::string& columns) {
    const CommandResult result = RunOrtEd({"train", "--data", Path("drinks.csv"), "--columns", columns, "-o",
                                           Path(columns), "--steps", "2", "--threads", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(train("drink,member"), HasSubstr("the method is uniform"));
  EXPECT_THAT(train("age,drink,size,member,shop"), HasSubstr("a base is learned first"));
  EXPECT_THAT(ReadBytes(Path("age,drink,size,member,shop/config.toml")), HasSubstr("base_steps = 16"));
}

TEST_F(TableCommand, TrainsOnATableAndSaysWhatItMadeOfIt) {
  const CommandResult result = Train({});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("400 rows, 6 columns"), HasSubstr("age: ordered, 16 bins"),
                                HasSubstr("drink: nominal, 3 categories: 'coffee, black', milk, tea"),
                                HasSubstr("member: binary: false, true"), HasSubstr("'id' identifies rows"),
                                HasSubstr("'shop' is 'Bonn' in every row"),
                                HasSubstr("5 variables in 28 bits, 360 rows")));
  EXPECT_THAT(ReadBytes(Path("run/variables.toml")),
              AllOf(HasSubstr("name = \"age\""), HasSubstr("missing = true"), HasSubstr("# id is left out")));
  // The same again by what was written down.
  const CommandResult again = Train({"--variables", Path("run/variables.toml")}, "again");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(ReadBytes(Path("run/model.onnx")), ReadBytes(Path("again/model.onnx")));
  EXPECT_THAT(RunOrtEd({"inspect", Path("run/model.onnx")}).out,
              AllOf(HasSubstr("drink"),
                    HasSubstr("4  nominal, 3 categories: 'coffee, black', milk, tea, and others")));
  const CommandResult resumed = RunOrtEd({"train", "--resume", Path("run"), "--steps", "40"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(TableCommand, ScoresByTheNamesOfColumns) {
  ASSERT_EQ(Train().exit_code, 0);
  const CommandResult plain = Score("age,drink,size,member\n20,milk,S,true\n,tea,M,false\n");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(Score("member;size;drink;age\ntrue;S;milk;20\nfalse;M;tea;NA\n").out, plain.out);
  const CommandResult with_id =
      Score("who,member,size,drink,age\n\"a,b\",true,S,milk,20\nc,false,M,tea,?\n", {"--id", "who"});
  ASSERT_EQ(with_id.exit_code, 0) << with_id.err;
  EXPECT_THAT(with_id.out, AllOf(HasSubstr("who,energy\n\"a,b\","), HasSubstr("\nc,")));
  const CommandResult unseen = Score("age,drink,size,member\n20,beer,S,true\n");
  EXPECT_EQ(unseen.exit_code, 0);
  EXPECT_EQ(unseen.out, Score("age,drink,size,member\n20,wine,S,true\n").out);
  EXPECT_EQ(unseen.out, Score("age,drink,size,member\n20,,S,true\n").out);  // never missing in training
}

TEST_F(TableCommand, ValuesThatTheTrainingDidNotHaveAreTold) {
  ASSERT_EQ(Train().exit_code, 0);
  const std::string header = "who,age,drink,size,member\n", usual = "ann,20,milk,S,true\n";
  EXPECT_THAT(Score(header + usual).err, Not(HasSubstr("training did not have")));
  const CommandResult odd = Score(header + usual + "bob,9999,beer,S,true\n", {"--json"});
  EXPECT_THAT(odd.err,
              AllOf(HasSubstr("warning: "),
                    HasSubstr("new.csv', column 'age': 1 of 2 cells have values that the training did "
                              "not have, such as '9999' in line 3, and count as the nearest"),
                    HasSubstr("column 'drink': 1 of 2"), HasSubstr("such as 'beer'")));
  EXPECT_EQ(nlohmann::json::parse(odd.out)["warnings"].size(), 2u);
  std::string many = header;
  for (int i = 0; i < 50; ++i) many += usual;
  const CommandResult rare = Score(many + "bob,9999,milk,S,true\n");
  EXPECT_THAT(rare.err, AllOf(HasSubstr("info: "), HasSubstr("1 of 51 cells"), Not(HasSubstr("warning"))));
  const std::string model = Path("run/model.onnx");
  WriteBytes(Path("new.csv"), header + "bob,9999,,S,true\n");
  EXPECT_THAT(RunOrtEd({"impute", model, Path("new.csv"), "-o", Path("p.csv")}).err,
              HasSubstr("'9999' in line 2"));
  const CommandResult drawn = RunOrtEd(
      {"sample", model, "--clamp", Path("new.csv"), "--steps", "2", "--json", "-o", Path("filled.csv")});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, AllOf(HasSubstr("new.csv', column 'age': 1 of 1 cells have values"),
                               HasSubstr("'9999' in line 2, and count as the nearest")));
  EXPECT_THAT(nlohmann::json::parse(drawn.out)["warnings"][0].get<std::string>(), HasSubstr("'9999'"));
}

// Who a row is about is told by every command that has something to say of rows.
TEST_F(TableCommand, OutputsCarryAnIdAndFollowTheTable) {
  ASSERT_EQ(Train().exit_code, 0);
  const std::string model = Path("run/model.onnx"), data = Path("new.csv");
  WriteBytes(data, "who;age;drink;size;member\nann;20;;S;true\nbob;30;tea;M;false\n");
  const Arguments id = {"--id", "who"};
  const auto run = [&](Arguments arguments) {
    arguments.insert(arguments.end(), id.begin(), id.end());
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(run({"impute", model, data, "-o", "-"}),
              AllOf(testing::StartsWith("who;age = "), HasSubstr("\nann;"), HasSubstr("\nbob;")));
  EXPECT_THAT(RunOrtEd({"impute", model, data, "-o", "-"}).out, testing::StartsWith("age = "));
  EXPECT_THAT(run({"score", model, data}), testing::StartsWith("who;energy\nann;"));
  EXPECT_THAT(run({"explain", model, data, "--conditionals", Path("c.csv")}),
              AllOf(HasSubstr("row 1 (ann): "), HasSubstr("row 2 (bob): ")));
  EXPECT_THAT(ReadBytes(Path("c.csv")),
              AllOf(testing::StartsWith("who;age;drink;size;member\nann;"), HasSubstr("\nbob;")));
  EXPECT_EQ(nlohmann::json::parse(run({"explain", model, data, "--json"}))["rows"][1]["id"], "bob");
  EXPECT_THAT(run({"sample", model, "--clamp", data, "-o", "-"}),
              testing::MatchesRegex("who,age,drink,size,member\nann,20,.+,S,true\nbob,30,tea,M,false\n"));
  EXPECT_EQ(RunOrtEd({"impute", model, data, "-o", Path("p.npy"), "--id", "who"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"sample", model, "-n", "2", "-o", "-", "--id", "who"}).exit_code, 2);
}

TEST_F(TableCommand, OtherTablesAreRefusedWithLineAndColumn) {
  ASSERT_EQ(Train().exit_code, 0);
  const std::pair<const char*, const char*> bad[] = {
      {"age,drink,size\n20,milk,S\n", "lacks columns that the model was trained on: 'member'"},
      {"20,milk,S,true\n", "lacks columns"},
      {"age,drink,size,member\n20,milk,S,true\nx,milk,S,true\n", "line 3, column 'age' is 'x', not a number"},
      {"age,drink,size,member\n20,milk,S,maybe\n", "line 2, column 'member' is 'maybe', which is none of"},
      {"age,drink,size,member\n20,milk,S,\n", "line 2, column 'member' is empty"},
      {"age,drink,size,member\n20,milk,S\n", "line 2 has 3 cells"},
  };
  for (const auto& [text, why] : bad) {
    const CommandResult result = Score(text, {"-o", Path("scores.csv")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, AllOf(HasSubstr(why), HasSubstr("new.csv")));
    EXPECT_FALSE(std::filesystem::exists(Path("scores.csv")));
  }
  EXPECT_THAT(Score("age,drink,size,member\n20,milk,S,true\n", {"--id", "nobody"}).err,
              HasSubstr("no column 'nobody'"));
  EXPECT_EQ(Score("age,drink,size,member\n20,milk,S,true\n", {"--id", "age", "-o", Path("s.npy")}).exit_code,
            2);
}

TEST_F(TableCommand, ColumnsWithoutNamesThatStandElsewhereAreWarnedOf) {
  WriteBytes(Path("drinks.csv"), [] {
    std::string rows;
    for (int i = 0; i < 100; ++i) rows += std::to_string(i % 7) + "," + std::to_string(i % 5) + "\n";
    return rows;
  }());
  ASSERT_EQ(Train({}).exit_code, 0);
  EXPECT_EQ(Score("3,2\n").err, "");
  EXPECT_THAT(Score("1,3,2\n1,4,2\n").err,
              AllOf(HasSubstr("new.csv' has no names of columns"), HasSubstr("one more")));
  const CommandResult of_all =
      RunOrtEd({"eval", Path("run/model.onnx"), "--data", Path("new.csv"), "--json"});
  EXPECT_THAT(of_all.out, HasSubstr("has no names of columns"));
}

TEST_F(TableCommand, RowsToTrainOnDoNotComeThroughAPipe) {
  ASSERT_EQ(mkfifo(Path("pipe.csv").c_str(), 0600), 0);
  const CommandResult result = RunOrtEd({"train", "--data", Path("pipe.csv"), "-o", Path("run")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--data must be a file and no pipe"));
}

TEST_F(TableCommand, AbsentColumnsAreThoseOfTheFileThatNamesThem) {
  WriteBytes(Path("few.csv"), "age,drink,size\n20,milk,S\n");
  const CommandResult validation = Train({"--validation", Path("few.csv")}, "validated");
  EXPECT_EQ(validation.exit_code, 1);
  EXPECT_THAT(validation.err, AllOf(HasSubstr("few.csv' lacks columns that are learned from '"),
                                    HasSubstr("drinks.csv': 'member'")));
  ASSERT_EQ(Train().exit_code, 0);
  const CommandResult variables = RunOrtEd({"train", "--data", Path("few.csv"), "--variables",
                                            Path("run/variables.toml"), "-o", Path("again"), "--steps", "1"});
  EXPECT_EQ(variables.exit_code, 1);
  EXPECT_THAT(variables.err, AllOf(HasSubstr("few.csv' lacks columns that '"),
                                   HasSubstr("run/variables.toml' names: 'member'")));
}

TEST_F(TableCommand, ColumnsMayBeChosen) {
  const CommandResult number = Train({"--columns", "3", "--drop", "shop"}, "number");
  EXPECT_EQ(number.exit_code, 2);
  EXPECT_THAT(number.err, HasSubstr("--columns says how many bits a row has"));
  const CommandResult result = Train({"--columns", "drink,size,age", "--drop", "age", "--ordered", "size"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("2 variables"), HasSubstr("size: ordered"), Not(HasSubstr("member:")),
                    HasSubstr("column 'size': its categories are taken in alphabetical order, from 'L' and "
                              "'M' to 'S'"),
                    HasSubstr("variables.toml")));
  EXPECT_EQ(Score("size,drink\nS,milk\n").exit_code, 0);
  const CommandResult unknown = Train({"--drop", "colour"}, "other");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--drop names 'colour'"), HasSubstr("drink")));
  const CommandResult known = RunOrtEd({"train", "--data", Path("drinks.csv"), "--model",
                                        Path("run/model.onnx"), "--drop", "drink", "-o", Path("other")});
  EXPECT_EQ(known.exit_code, 2);
  EXPECT_THAT(known.err, HasSubstr("--drop has no effect with the model"));
  EXPECT_THAT(Train({"--method", "bernoulli", "--epsilon", "0.2"}, "other").err,
              AllOf(HasSubstr("--method must be of"), HasSubstr("uniform")));
  const CommandResult idle =
      RunOrtEd({"train", "--data", "synth:pinwheel", "--drop", "a", "-o", Path("other"), "--steps", "1"});
  EXPECT_EQ(idle.exit_code, 2);
  EXPECT_THAT(idle.err, HasSubstr("--drop is for tables"));
  EXPECT_FALSE(std::filesystem::exists(Path("other")));
}

TEST_F(TableCommand, WhatIsMissingIsSummedOverOnRequest) {
  ASSERT_EQ(Train().exit_code, 0);
  const std::string hole = "age,drink,size,member\n30,tea,M,\n";
  const CommandResult refused = Score(hole);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("line 2, column 'member'"), HasSubstr("score --marginalise")));
  const CommandResult summed = Score(hole, {"--marginalise", "--json"});
  ASSERT_EQ(summed.exit_code, 0) << summed.err;
  const auto energy = [&](const std::string& member) {
    const CommandResult scored = Score("age,drink,size,member\n30,tea,M," + member + "\n", {"--json"});
    return nlohmann::json::parse(scored.out)["energy"]["mean"].get<double>();
  };
  const auto json = nlohmann::json::parse(summed.out);
  EXPECT_NEAR(json["energy"]["mean"], -std::log(std::exp(-energy("true")) + std::exp(-energy("false"))),
              1e-4);
  EXPECT_EQ(json["marginalised"]["rows"], 1);
  EXPECT_EQ(Score(hole, {"--marginalise", "--anomaly"}).exit_code, 2);
}

TEST_F(TableCommand, SamplesAreTablesAgain) {
  std::string rows = "smokes,coughs,old\n";
  for (int i = 0; i < 200; ++i)
    rows += std::string(i % 2 ? "yes" : "no") + "," + (i % 2 && i % 3 ? "yes" : "no") + "," +
            (i % 5 ? "false" : "true") + "\n";
  WriteBytes(Path("drinks.csv"), rows);
  ASSERT_EQ(Train({}).exit_code, 0);
  const CommandResult drawn =
      RunOrtEd({"sample", Path("run/model.onnx"), "-n", "50", "--steps", "20", "-o", "-"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(drawn.out.starts_with("smokes,coughs,old\n")) << drawn.out;
  EXPECT_THAT(drawn.out, AllOf(HasSubstr("yes,"), HasSubstr(",true\n"), HasSubstr(",false\n")));
  WriteBytes(Path("samples.csv"), drawn.out);
  EXPECT_EQ(RunOrtEd({"score", Path("run/model.onnx"), Path("samples.csv")}).exit_code, 0);
  WriteBytes(Path("holes.csv"), "old,id,smokes,coughs\ntrue,7,,yes\n,8,no,?\n");
  const CommandResult filled =
      RunOrtEd({"sample", Path("run/model.onnx"), "--clamp", Path("holes.csv"), "--steps", "20", "-o", "-"});
  ASSERT_EQ(filled.exit_code, 0) << filled.err;
  EXPECT_THAT(filled.out,
              ::testing::MatchesRegex("smokes,coughs,old\n(yes|no),yes,true\nno,(yes|no),(true|false)\n"));
}

// Categories, numbers and holes through every command that a model of a table knows.
TEST_F(TableCommand, WhatIsLearnedIsSampledFilledAndExplained) {
  ASSERT_EQ(Train().exit_code, 0);
  const std::string model = Path("run/model.onnx");
  for (const char* sampler : {"gibbs", "gwg"}) {
    const CommandResult drawn = RunOrtEd(
        {"sample", model, "-n", "30", "--steps", "20", "--sampler", sampler, "-o", Path("samples.csv")});
    ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
    EXPECT_THAT(drawn.err, HasSubstr("variables per record"));
    const std::string samples = ReadBytes(Path("samples.csv"));
    EXPECT_TRUE(samples.starts_with("age,drink,size,member\n")) << samples;
    EXPECT_THAT(samples, AllOf(HasSubstr("\"coffee, black\","), HasSubstr(",false\n")));
    EXPECT_EQ(RunOrtEd({"score", model, Path("samples.csv")}).exit_code, 0);
  }
  const std::string start =
      RunOrtEd({"sample", model, "--init", Path("samples.csv"), "--steps", "2", "-o", "-"}).out;
  EXPECT_EQ(std::ranges::count(start, '\n'), 31);

  // What is given stays as it was written: a value within a bin, and a category that was never seen.
  WriteBytes(Path("given.csv"), "age,drink,size,member\n50.0,cocoa,,true\n51,cocoa,,true\n");
  for (const Arguments& how : {Arguments{}, {"--steps", "20", "-n", "6", "--chains", "3"}}) {
    Arguments arguments = {"sample", model, "--clamp", Path("given.csv"), "-o", "-"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const CommandResult given = RunOrtEd(arguments);
    ASSERT_EQ(given.exit_code, 0) << given.err;
    const std::string first = "50.0,cocoa,[A-Z()a-z]*,true\n", second = "51,cocoa,[A-Z()a-z]*,true\n";
    EXPECT_THAT(given.out, testing::MatchesRegex("age,drink,size,member\n" + first + second +
                                                 (how.empty() ? "" : first + first + second + first)));
  }

  WriteBytes(Path("holes.csv"), "who,age,drink,size,member\n1,50,tea,,true\n2,,milk,S,\n");
  const CommandResult filled =
      RunOrtEd({"sample", model, "--clamp", Path("holes.csv"), "--steps", "20", "-o", "-"});
  ASSERT_EQ(filled.exit_code, 0) << filled.err;
  EXPECT_THAT(filled.out, testing::MatchesRegex("age,drink,size,member\n50,tea,[A-Z()a-z]*,true\n"
                                                "[0-9]*,milk,S,(true|false)\n"));
  const CommandResult imputed =
      RunOrtEd({"impute", model, Path("holes.csv"), "--steps", "20", "-o", Path("probabilities.csv")});
  ASSERT_EQ(imputed.exit_code, 0) << imputed.err;
  EXPECT_THAT(imputed.err, HasSubstr("3 cells of 2 rows"));
  EXPECT_THAT(ReadBytes(Path("probabilities.csv")),
              AllOf(HasSubstr("\"drink = coffee, black\",drink = milk"), HasSubstr("size = S")));

  const CommandResult explained = RunOrtEd({"explain", model, Path("samples.csv"), "--top", "4", "-o",
                                            Path("surprise.png"), "--conditionals", Path("each.csv")});
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, AllOf(HasSubstr("  drink   is coffee, black with probability"),
                                   HasSubstr("  age     is 17 to 24 with"), HasSubstr("expected")));
  EXPECT_TRUE(ReadBytes(Path("each.csv")).starts_with("age,drink,size,member\n"));
  const auto json =
      nlohmann::json::parse(RunOrtEd({"explain", model, Path("samples.csv"), "--top", "4", "--json"}).out);
  EXPECT_EQ(json["rows"].size(), 30);
  EXPECT_EQ(json["variables"][1]["name"], "drink");
  for (const auto& each : json["rows"][0]["surprising"]) EXPECT_TRUE(each["expected"].is_string()) << each;
}

TEST_F(TableCommand, WhatIsLearnedIsEvaluatedAndReported) {
  ASSERT_EQ(Train({"--drop", "shop", "--method", "pcd", "--negatives", "1"}).exit_code, 0);
  const std::string model = Path("run/model.onnx");
  const CommandResult log_z = RunOrtEd({"logz", model, "--estimator", "exact", "--write"});
  ASSERT_EQ(log_z.exit_code, 0) << log_z.err;
  EXPECT_THAT(log_z.out, HasSubstr("exact"));
  const CommandResult evaluated = RunOrtEd({"eval", model, "--data", Path("drinks.csv"), "--samples", "50",
                                            "--steps", "10", "--mmd-null", "3", "--png", Path("e.png")});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, AllOf(HasSubstr("400 of 4 variables in 26 bits"), HasSubstr("bits per variable"),
                                   HasSubstr("squared MMD, hamming")));
  const CommandResult annealed =
      RunOrtEd({"eval", model, "--data", Path("drinks.csv"), "--estimator", "ais", "--temperatures", "20",
                "--chains", "20", "--samples", "0", "--raise-rows", "5"});
  ASSERT_EQ(annealed.exit_code, 0) << annealed.err;
  EXPECT_THAT(annealed.out, HasSubstr("by RAISE"));
  EXPECT_EQ(RunOrtEd({"compare", Path("run"), model, "--data", Path("drinks.csv")}).exit_code, 0);
  const CommandResult reported = RunOrtEd({"report", Path("run"), "--data", Path("drinks.csv"), "--steps",
                                           "10", "--samples", "20", "-o", Path("report.html")});
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_THAT(ReadBytes(Path("report.html")),
              AllOf(HasSubstr("drink = milk"), HasSubstr("<th>drink</th>"), HasSubstr("4<small>26 states")));
}

// Separators, dates and units as they were.
TEST_F(TableCommand, TablesAreWrittenAsTheyWereRead) {
  std::string rows = "day;price;share;opens\n";
  for (int i = 0; i < 200; ++i)
    rows += std::to_string(10 + i % 18) + ".0" + std::to_string(1 + i % 9) + ".2024;" +
            std::to_string(1 + i % 7) + "." + std::to_string(100 + i % 50) + ",50 €;" +
            std::to_string(i % 60) + "%;" + std::to_string(8 + i % 3) + ":" + std::to_string(10 + i % 50) +
            "\n";
  WriteBytes(Path("drinks.csv"), rows);
  const CommandResult trained = Train({"--method", "uniform"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("written DD.MM.YYYY"), HasSubstr("written #.###,00 €"),
                                 HasSubstr("opens: cyclic, 16 bins of times from 8:")));
  const std::string model = Path("run/model.onnx");
  ASSERT_EQ(RunOrtEd({"sample", model, "-n", "20", "--steps", "5", "-o", Path("out.csv")}).exit_code, 0);
  std::istringstream lines(ReadBytes(Path("out.csv")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "day;price;share;opens");
  while (std::getline(lines, line))
    EXPECT_THAT(line, testing::MatchesRegex(
                          "[0-3][0-9]\\.0[1-9]\\.2024;[1-7]\\.[0-9]{3},[0-9]+ €;[0-9]+%;[0-9]+:[0-9]{2}"));
  EXPECT_EQ(RunOrtEd({"score", model, Path("out.csv")}).exit_code, 0);
  ASSERT_EQ(RunOrtEd({"sample", model, "-n", "2", "--steps", "5", "-o", Path("out.tsv")}).exit_code, 0);
  EXPECT_TRUE(ReadBytes(Path("out.tsv")).starts_with("day\tprice\t"));
}

TEST_F(TableCommand, PartsOfOneInAColumnOfPercentagesAreTold) {
  std::string rows = "share,member\n";
  for (int i = 0; i < 100; ++i) rows += std::to_string(i % 60) + (i % 3 ? "%,yes\n" : "%,no\n");
  WriteBytes(Path("drinks.csv"), rows);
  ASSERT_EQ(Train({}).exit_code, 0);
  EXPECT_THAT(Score("share,member\n45%,yes\n45,yes\n1,no\n0,no\n0.5%,no\n").err,
              Not(HasSubstr("without a %")));
  const CommandResult parts = Score("share,member\n45%,yes\n0.45,no\n.3,yes\n", {"--json"});
  EXPECT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_THAT(
      parts.err,
      AllOf(HasSubstr("warning: "),
            HasSubstr("new.csv', column 'share' has percentages, and 2 cells of it are numbers below 1 "
                      "without a %, such as '0.45' in line 3: '0.45' is read as 0.45 %"),
            HasSubstr("45% for 0.45")));
  EXPECT_EQ(nlohmann::json::parse(parts.out)["warnings"].size(), 1u);
}

TEST_F(TableCommand, OfManyColumnsTheFirstAreShown) {
  std::string rows;
  for (int i = 0; i < 45; ++i) rows += (i == 0 ? "c" : ",c") + std::to_string(i);
  for (int row = 0; row < 60; ++row)
    for (int i = 0; i < 45; ++i)
      rows += std::string(i == 0 ? "\n" : ",") + ((row * 7 + i * row) % 3 ? "yes" : "no");
  WriteBytes(Path("drinks.csv"), rows + "\n");
  const CommandResult trained = Train({"--method", "uniform"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("  c39: binary: no, yes"), Not(HasSubstr("  c40:")),
                                 HasSubstr("... and 5 more; all are in variables.toml")));
}

// pandas numbers columns without a name.
TEST_F(TableCommand, TwoNumberedColumnsOfBitsAreToldAndMayBeNamed) {
  std::string rows = "0,1\n";
  for (int i = 0; i < 100; ++i) rows += i % 3 ? "1,1\n" : "0,0\n";
  WriteBytes(Path("drinks.csv"), rows);
  const CommandResult as_row = Train({"--validation-fraction", "0"}, "rows");
  ASSERT_EQ(as_row.exit_code, 0) << as_row.err;
  EXPECT_THAT(as_row.err, AllOf(HasSubstr("the first line, 0 and 1, is read as a row"),
                                HasSubstr("--header yes"), HasSubstr("101 rows")));
  const CommandResult as_names = Train({"--validation-fraction", "0", "--header", "yes"});
  ASSERT_EQ(as_names.exit_code, 0) << as_names.err;
  EXPECT_THAT(as_names.err,
              AllOf(Not(HasSubstr("is read as a row")), HasSubstr("100 rows"), Not(HasSubstr("101 rows"))));
  EXPECT_EQ(std::ranges::count(Score("0,1\n1,1\n0,0\n").out, '\n'), 3);  // a header and two energies
}

// A 2 among bits is a mistake, unless somebody says that it is a category.
TEST_F(TableCommand, AStrayCellAmongBitsIsAnError) {
  std::string text;
  for (int row = 0; row < 40; ++row) text += row == 17 ? "0,1,2,0\n" : "1,0,1,0\n0,1,0,1\n";
  WriteBytes(Path("bits.csv"), text);
  const Arguments train = {"train", "--data", Path("bits.csv"), "-o", Path("bits"), "--steps", "2"};
  const CommandResult refused = RunOrtEd(train);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, testing::AllOf(testing::HasSubstr("line 35, column 3 is 2"),
                                          testing::HasSubstr("--header no")));
  EXPECT_FALSE(std::filesystem::exists(Path("bits")));
  Arguments as_table = train;
  as_table.insert(as_table.end(), {"--header", "no"});
  EXPECT_EQ(RunOrtEd(as_table).exit_code, 0);
}

TEST_F(TableCommand, BitsWithNamesAreBitsWhoseNamesAreKept) {
  std::string rows;
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const unsigned bits = random();
    rows += std::string(1, "01"[bits & 1]) + "," + "01"[bits >> 1 & 1] + "," + "01"[bits >> 2 & 1] + "\n";
  }
  WriteBytes(Path("bare.csv"), rows);
  WriteBytes(Path("named.csv"), "a,b,c\n" + rows);
  ASSERT_EQ(Train({"--data", Path("named.csv")}, "x").exit_code, 2);  // given twice
  const auto train = [&](const std::string& data, const std::string& run) {
    return RunOrtEd(
        {"train", "--data", Path(data), "-o", Path(run), "--steps", "30", "--threads", "1", "--hidden", "8"});
  };
  ASSERT_EQ(train("bare.csv", "bare").exit_code, 0);
  const CommandResult named = train("named.csv", "run");
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(RunOrtEd({"score", Path("bare/model.onnx"), Path("bare.csv")}).out,
            RunOrtEd({"score", Path("run/model.onnx"), Path("bare.csv")}).out);
  EXPECT_EQ(Score("c,a,b\n1,0,0\n").out, Score("a,b,c\n0,0,1\n").out);
  EXPECT_NE(Score("c,a,b\n1,0,0\n").out, Score("a,b,c\n1,0,0\n").out);
  EXPECT_EQ(Score("0,0,1\n").out, Score("a,b,c\n0,0,1\n").out);
  EXPECT_EQ(Score("a,b,d\n0,0,1\n").exit_code, 1);
}

}  // namespace
}  // namespace ort_ed
