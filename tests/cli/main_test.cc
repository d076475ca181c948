#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Main, TellsCommandsAndVersions) {
  const CommandResult help = RunOrtEd({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Usage: ort-ed COMMAND"));
  EXPECT_THAT(help.err, IsEmpty());
  const CommandResult version = RunOrtEd({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, HasSubstr("ONNX Runtime 1."));
}

TEST(Main, MisuseIsExitCodeTwo) {
  const CommandResult nothing = RunOrtEd({});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("a command is missing"));
}

TEST(Main, AForgottenValueIsMisuse) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"data", "moons", "-n", "-o", "-"},
                                                {"data", "moons", "-o", "-", "--seed"},
                                                {"new", "mlp", "--dimension", "--output", "x.onnx"},
                                                {"export", "run", "--weights", "-o", "x.onnx"}}) {
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, 2) << words[2];
    EXPECT_THAT(result.err, HasSubstr(" needs a value"));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(Main, ANumberThatDoesNotFitIsExplained) {
  const CommandResult result = RunOrtEd({"new", "mlp", "-D", "3", "--seed", "-1", "-o", "x.onnx"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--seed must lie in [0, inf), not -1"));
}

TEST(Main, FilesThatAppearAtOnceDoNotGoToTheStandardOutput) {
  const CommandResult result = RunOrtEd({"new", "mlp", "-D", "3", "-o", "-"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("name a file"));
}

TEST(Main, AnUnknownCommandListsTheCommands) {
  const CommandResult unknown = RunOrtEd({"trian"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command 'trian'; there are new, inspect, check, data, train"));
  EXPECT_THAT(unknown.out, IsEmpty());
}

}  // namespace
}  // namespace ort_ed
