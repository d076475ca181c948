#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/graph/model_file.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/metadata.h"
#include "tests/cli/run_command.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// `ort-ed new words... -o FILE` in a folder of its own.
class NewTest : public testing::Test {
 protected:
  CommandResult New(std::vector<std::string> words, const std::string& file = "m.onnx") {
    words.insert(words.begin(), "new");
    words.insert(words.end(), {"-o", folder_.File(file)});
    return RunOrtEd(words);
  }

  ModelSummary Made(const std::vector<std::string>& words) {
    const CommandResult result = New(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
    const onnx::ModelProto model = LoadModel(folder_.File("m.onnx"));
    CheckOnnx(model, "m.onnx");
    return Summarise(model, "m.onnx", {});
  }

  void ExpectFailure(const std::vector<std::string>& words, int exit_code, const std::string& part,
                     const std::string& other = "") {
    const CommandResult result = New(words);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.err, AllOf(HasSubstr(part), HasSubstr(other)));
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(folder_.File("m.onnx")));
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.File(name)) << text;
    return folder_.File(name);
  }

  TempDir folder_;
};

TEST_F(NewTest, MakesEveryArchitecture) {
  EXPECT_EQ(Made({"mlp", "-D", "3", "--hidden", "5,2", "--activation", "relu"}).ParameterCount(),
            3 * 5 + 5 + 5 * 2 + 2 + 2 + 1);
  EXPECT_EQ(Made({"rbm", "--dimension", "3", "--hidden", "4"}).ParameterCount(), 3 * 4 + 3 + 4);
  EXPECT_EQ(Made({"resnet", "--image-shape", "5x7", "--channels", "2", "--blocks", "1", "--downsample", "0"})
                .contract.dimension,
            35);
  const ModelSummary ising =
      Made({"ising", "--image-shape", "3x3", "--init", "lattice", "--coupling", "-0.1"});
  EXPECT_EQ(ising.ParameterCount(), 81);
  EXPECT_THAT(ising.metadata.at(metadata_key::kArchitectureOptions), HasSubstr(R"("coupling":"-0.1")"));
}

TEST_F(NewTest, TheSameSeedGivesTheSameFile) {
  const auto bytes = [&](const std::string& seed) {
    Made({"mlp", "-D", "4", "--seed", seed});
    return FileContents(folder_.File("m.onnx"));
  };
  const std::string first = bytes("3");
  EXPECT_EQ(bytes("3"), first);
  EXPECT_NE(bytes("4"), first);
}

TEST_F(NewTest, TakesBaseAndDimensionFromData) {
  const std::string data = Write("rows.csv", "a,b,c\n0,1,0\n0,1,1\n0,1,0\n0,1,1\n");
  const ModelSummary summary = Made({"mlp", "--base", data});
  EXPECT_EQ(summary.contract.dimension, 3);
  EXPECT_EQ(summary.metadata.at(metadata_key::kBaseMean), "0.01,0.99,0.5");
  EXPECT_EQ(Made({"mlp", "--base", data, "--base-smoothing", "0.25"}).metadata.at(metadata_key::kBaseMean),
            "0.25,0.75,0.5");
  EXPECT_EQ(Made({"mlp", "-D", "2", "--base-mean", "0.125"}).metadata.at(metadata_key::kBaseMean),
            "0.125,0.125");
}

TEST_F(NewTest, TakesABaseFromGreyData) {
  const std::string data = Write("grey.csv", "0,255\n100,255\n200,0\n0,255\n");
  const ModelSummary summary =
      Made({"mlp", "--base", data, "--binarise", "threshold", "--base-smoothing", "0.1"});
  EXPECT_EQ(summary.metadata.at(metadata_key::kBaseMean), "0.3,0.7");
}

TEST_F(NewTest, HelpListsArchitecturesAndTheirOptions) {
  const CommandResult help = RunOrtEd({"new", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* part : {"ising", "rbm", "mlp", "resnet", "--hidden", "--slope", "--coupling", "--channels",
                           "256,256,256", "Examples:"})
    EXPECT_THAT(help.out, HasSubstr(part));
}

TEST_F(NewTest, UnknownNamesListTheCandidates) {
  ExpectFailure({"transformer", "-D", "3"}, 1, "'transformer'", "ising, rbm, mlp, resnet");
  ExpectFailure({"ising", "-D", "3", "--hidden", "3"}, 2, "--hidden has no effect with architecture ising",
                "it belongs to rbm, mlp");
  ExpectFailure({"mlp", "-D", "3", "--width", "3"}, 1, "--width", "--hidden");
}

TEST_F(NewTest, BadValuesAreNamed) {
  ExpectFailure({"mlp"}, 2, "--dimension is missing");
  ExpectFailure({"mlp", "-D", "0"}, 2, "--dimension must lie in [1, 1048576], not 0");
  ExpectFailure({"mlp", "-D", "-4"}, 2, "-4");
  ExpectFailure({"mlp", "-D", "8", "--image-shape", "3x3"}, 2,
                "--image-shape must hold the 8 variables of a row, but 3x3 has 9 variables");
  ExpectFailure({"mlp", "-D", "many"}, 2, "many");
  ExpectFailure({"mlp", "-D", "3", "--hidden", "0"}, 2, "--hidden must lie in [1, inf), not 0");
  ExpectFailure({"resnet", "-D", "9"}, 2, "resnet needs an image shape");
  ExpectFailure({"resnet", "--image-shape", "28"}, 2,
                "--image-shape must be a height and a width such as 28x28");
  ExpectFailure({"mlp", "-D", "3", "--base-mean", "1"}, 2, "--base-mean must lie in (0, 1), not 1");
  ExpectFailure({"mlp", "-D", "3", "--base-mean", "0.5", "--base", "x.npy"}, 2,
                "--base-mean has no effect with --base; choose one");
  ExpectFailure({"mlp", "-D", "3", "--base-smoothing", "0.1"}, 2,
                "--base-smoothing has no effect without --base");
  ExpectFailure({"mlp", "-D", "3", "--binarise", "threshold"}, 2, "--binarise has no effect without --base");
  ExpectFailure({"mlp", "-D", "3", "--base", folder_.File("none.npy")}, 1, "none.npy");
  const std::string data = Write("rows.csv", "0,1\n1,1\n");
  ExpectFailure({"mlp", "-D", "3", "--base", data}, 1, "rows.csv");
  ExpectFailure({"mlp", "--base", data, "--base-smoothing", "0.6"}, 2,
                "--base-smoothing must lie in [0, 0.5], not 0.6");
  ExpectFailure({"mlp", "--base", data, "--base-smoothing", "0"}, 2, "--base-smoothing must be larger",
                "variable 1 would be 1");
  ExpectFailure({"mlp", "--base", Write("bad.csv", "0,1\n0,7\n")}, 1, "bad.csv");
}

TEST_F(NewTest, AnUnwritableOutputIsNamed) {
  const CommandResult result = New({"mlp", "-D", "3"}, "no/such/folder/m.onnx");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no/such/folder/m.onnx"));
  const CommandResult missing = RunOrtEd({"new", "mlp", "-D", "3"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--output is missing"));
}

}  // namespace
}  // namespace ort_ed
