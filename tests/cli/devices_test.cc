#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace ort_ed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Instructions {
 public:
  explicit Instructions(const char* name) { setenv("ORT_ED_INSTRUCTIONS", name, 1); }
  ~Instructions() { unsetenv("ORT_ED_INSTRUCTIONS"); }
};

TEST(Devices, ListsTheCpuAndCuda) {
  const CommandResult text = RunOrtEd({"devices"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("ONNX Runtime"), HasSubstr("cpu"), HasSubstr("cuda")));
  EXPECT_EQ(text.err, "");
  const auto json = nlohmann::json::parse(RunOrtEd({"devices", "--json"}).out);
  EXPECT_EQ(json["devices"][0]["name"], "cpu");
  EXPECT_EQ(json["devices"][0]["usable"], true);
}

TEST(Devices, TellsTheInstructionsAndObeysALowerSet) {
  const Instructions portable("portable");
  EXPECT_THAT(RunOrtEd({"devices"}).out, HasSubstr("our own kernels use portable"));
  EXPECT_EQ(nlohmann::json::parse(RunOrtEd({"devices", "--json"}).out)["instructions"], "portable");
}

TEST(Devices, UnknownInstructionsAreRefusedBeforeAnyWork) {
  const Instructions unknown("avx9000");
  const CommandResult result = RunOrtEd({"data", "moons", "-n", "2", "-o", "-"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("ORT_ED_INSTRUCTIONS 'avx9000'; there are portable, avx2, avx512"));
}

}  // namespace
}  // namespace ort_ed
