#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/data/npy.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_reader.h"
#include "tests/cli/run_command.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Data, WritesTheRowsOfADensityInAnyFormatWithTheirPoints) {
  const TempDir folder;
  std::vector<uint8_t> expected(50 * PlanarCode::kBits);
  DrawPlanarRows(FindPlanarDensity("pinwheel"), 3, 0, expected);
  for (const std::string name : {"x.npy", "x.bits.npy", "x.csv"}) {
    const CommandResult result = RunOrtEd({"data", "pinwheel", "-n", "50", "--seed", "3", "--planar",
                                           folder.File("xy.npy"), "-o", folder.File(name)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_EQ(ReadRows(folder.File(name)).values, expected) << name;
  }
  const NpyArray points = ReadNpy(folder.File("xy.npy"));
  EXPECT_THAT(points.shape, ::testing::ElementsAre(50, 2));
  EXPECT_FLOAT_EQ(static_cast<float>(points.values[0]),
                  static_cast<float>(DrawPlanarPoint(FindPlanarDensity("pinwheel"), 3, 0).x));
}

TEST(Data, TheStandardOutputIsCsv) {
  const CommandResult result = RunOrtEd({"data", "moons", "-n", "2", "-o", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.size(), 2 * 2 * PlanarCode::kBits);
}

TEST(Data, HelpListsTheDataSets) {
  const CommandResult help = RunOrtEd({"data", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const PlanarDensity& density : PlanarDensities()) EXPECT_THAT(help.out, HasSubstr(density.name));
}

TEST(Data, MisuseIsToldAndWritesNothing) {
  const TempDir folder;
  const CommandResult unknown = RunOrtEd({"data", "moon", "-o", folder.File("x.npy")});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("set must be one of 2spirals, 8gaussians"));
  const CommandResult none = RunOrtEd({"data", "moons", "-n", "0", "-o", folder.File("x.npy")});
  EXPECT_EQ(none.exit_code, 2);
  const CommandResult format = RunOrtEd({"data", "moons", "-o", folder.File("x.mat")});
  EXPECT_EQ(format.exit_code, 1);
  EXPECT_THAT(format.err, HasSubstr(".bits.npy"));
  const CommandResult nowhere = RunOrtEd({"data", "moons", "-o", folder.File("no/x.npy")});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("the folder does not exist"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Data, OptionsOfOtherDataSetsAreMisuse) {
  const TempDir folder;
  const auto fails = [&](const std::string& name, const std::string& option, const std::string& value) {
    const CommandResult result =
        RunOrtEd({"data", name, "-n", "3", option, value, "-o", folder.File("x.csv")});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(option + " has no effect with set " + name));
  };
  fails("pinwheel", "--couplings", folder.File("J.npy"));
  fails("pinwheel", "--sigma", "3");
  fails("ising", "--planar", folder.File("xy.npy"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ort_ed
