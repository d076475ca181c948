#pragma once

#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {

// Six variables: the first three equal with probability 0.9 each, the fourth constant, two free.
inline std::string CorrelatedRows(int rows) {
  std::mt19937 random(5);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const unsigned first = random() % 2;
    text += std::to_string(first);
    for (int k = 0; k < 2; ++k) text += "," + std::to_string(random() % 10 == 0 ? 1 - first : first);
    text += ",1," + std::to_string(random() % 2) + "," + std::to_string(random() % 2) + "\n";
  }
  return text;
}

inline bool SameFiles(const std::string& a, const std::string& b) { return ReadBytes(a) == ReadBytes(b); }

class TrainCommand : public testing::Test {
 protected:
  TrainCommand() { WriteBytes(Path("rows.csv"), CorrelatedRows(500)); }

  std::string Path(const std::string& name) const { return dir_.File(name); }

  // A small training; `more` adds to its options or replaces them, "" takes one away.
  std::vector<std::string> Small(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::map<std::string, std::string> options = {
        {"--data", Path("rows.csv")}, {"-o", Path(run)},    {"--steps", "40"}, {"--threads", "1"},
        {"--batch-size", "16"},       {"--negatives", "4"}, {"--hidden", "16"}};
    std::vector<std::string> flags;
    for (size_t i = 0; i < more.size(); ++i) {
      const bool is_flag = i + 1 == more.size() || more[i + 1].starts_with("--");
      if (is_flag) flags.push_back(more[i]);
      if (!is_flag) options[more[i]] = more[i + 1], ++i;
    }
    std::vector<std::string> arguments = {"train"};
    for (const auto& [name, value] : options)
      if (!value.empty()) arguments.insert(arguments.end(), {name, value});
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  CommandResult Train(const std::string& run, const std::vector<std::string>& more = {}) const {
    return RunOrtEd(Small(run, more));
  }

  void ExpectFailure(const CommandResult& result, int exit_code, const std::string& message) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, testing::HasSubstr(message));
    EXPECT_THAT(result.out, testing::IsEmpty());
  }

  std::vector<nlohmann::json> Metrics(const std::string& run) const {
    std::vector<nlohmann::json> lines;
    std::ifstream file(Path(run + "/metrics.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  std::vector<double> ValidationLosses(const std::string& run) const {
    std::vector<double> losses;
    for (const auto& line : Metrics(run))
      if (line.contains("validation_loss")) losses.push_back(line["validation_loss"]);
    return losses;
  }

  // Without what depends on the clock.
  std::vector<nlohmann::json> TimelessMetrics(const std::string& run) const {
    auto lines = Metrics(run);
    for (auto& line : lines) {
      line.erase("time");
      line.erase("steps_per_second");
    }
    return lines;
  }

  TempDir dir_;
};

}  // namespace ort_ed
