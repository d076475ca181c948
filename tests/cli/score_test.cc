#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/support/files/atomic_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/file_contents.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Score : public testing::Test {
 protected:
  Score() {
    WriteFileAtomically(model_, LinearModel(3));
    WriteFileAtomically(rows_, "1,0,0\n0,1,1\n0,0,0\n");
  }

  std::string Written(const std::string& name, const std::string& contents) {
    WriteFileAtomically(folder_.File(name), contents);
    return folder_.File(name);
  }

  // One message on stderr with each of `parts`, exit code 1, nothing on stdout and no new file.
  template <typename... Parts>
  void ExpectFailure(const std::vector<std::string>& arguments, const Parts&... parts) {
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); };
    const auto before = files();
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("error: "), HasSubstr(parts)...));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(files(), before);
  }

  template <typename... Parts>
  void ExpectBadModel(const std::string& contents, const Parts&... parts) {
    const std::string path = Written("bad.onnx", contents);
    ExpectFailure({"score", path, rows_, "-o", folder_.File("out.npy")}, path, parts...);
  }

  template <typename... Parts>
  void ExpectBadData(const std::string& name, const std::string& contents, const Parts&... parts) {
    const std::string path = Written(name, contents);
    ExpectFailure({"score", model_, path, "-o", folder_.File("out.npy")}, path, parts...);
  }

  TempDir folder_;
  std::string model_ = folder_.File("model.onnx");
  std::string rows_ = folder_.File("rows.csv");
};

TEST_F(Score, WritesOneEnergyALineToStdout) {
  const CommandResult result = RunOrtEd({"score", model_, rows_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "energy\n1\n5\n0\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(Score, FilesMayStandBehindTwoDashes) {
  const CommandResult result = RunOrtEd({"score", "--", model_, rows_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "energy\n1\n5\n0\n");
}

TEST_F(Score, ReadsStdin) {
  const CommandResult result = RunOrtEd({"score", model_, "-"}, "1 1 1\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "energy\n6\n");
}

TEST_F(Score, ScoresTheLinesOfAPipeAsTheyCome) {
  const std::string pipe = folder_.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  CommandProcess process({"score", model_, pipe});
  std::ofstream writer(pipe);
  std::string expected = "energy\n";
  for (const char* energy : {"1", "3", "6"}) {
    writer << (*energy == '1' ? "1,0,0" : *energy == '3' ? "1,1,0" : "1,1,1") << std::endl;
    expected += std::string(energy) + "\n";
    while (process.Running() && process.Output() != expected) usleep(1000);
    EXPECT_EQ(process.Output(), expected);
  }
  writer.close();
  EXPECT_EQ(process.Wait().exit_code, 0);
}

TEST_F(Score, AddsLogLikelihoodsWhereTheModelCarriesLogZ) {
  WriteFileAtomically(model_, WithMetadata(LinearModel(3), "ort_ed.log_z", "0.5"));
  const CommandResult result = RunOrtEd({"score", model_, rows_});
  EXPECT_EQ(result.out, "energy,log_likelihood\n1,-1.5\n5,-5.5\n0,-0.5\n");
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "-o", folder_.File("out.npy")}).exit_code, 0);
  EXPECT_THAT(FileContents(folder_.File("out.npy")), HasSubstr("(3, 2)"));
}

TEST_F(Score, TheFolderOfARunIsToldByItsModels) {
  const std::string run = folder_.File("run");
  std::filesystem::create_directory(run);
  EXPECT_THAT(RunOrtEd({"score", run, rows_}).err, HasSubstr("it is a folder"));
  WriteFileAtomically(run + "/model.onnx", LinearModel(3));
  EXPECT_THAT(RunOrtEd({"score", run, rows_}).err,
              HasSubstr("is the folder of a run; name '" + run + "/model.onnx'"));
  WriteFileAtomically(run + "/best.onnx", LinearModel(3));
  EXPECT_THAT(RunOrtEd({"score", run, rows_}).err,
              HasSubstr("'" + run + "/best.onnx' (of the best validation) or"));
}

TEST_F(Score, AnomalyIsTheFractionOfTrainingRowsThatAreLessOdd) {
  WriteFileAtomically(model_, WithMetadata(WithMetadata(LinearModel(3), "ort_ed.energy_quantiles", "0,2,6"),
                                           "ort_ed.energy_rows", "50"));
  const CommandResult result = RunOrtEd({"score", model_, rows_, "--anomaly"});
  EXPECT_EQ(result.out, "energy,anomaly\n1,0.375\n5,0.9375\n0,0\n") << result.err;
  EXPECT_EQ(RunOrtEd({"score", model_, rows_}).out, "energy\n1\n5\n0\n");
  const CommandResult summary = RunOrtEd({"score", model_, rows_, "--anomaly", "--json"});
  const auto json = nlohmann::json::parse(summary.out);
  EXPECT_EQ(json["anomaly"]["max"], 0.9375);
  EXPECT_EQ(json["anomaly"]["above_0.95"], 0);
  EXPECT_EQ(json["anomaly"]["reference_rows"], 50);
}

TEST_F(Score, AnomalyNeedsSomethingToCompareWith) {
  ExpectFailure({"score", model_, rows_, "--anomaly"}, "model.onnx", "--reference");
  const std::string reference = Written("normal.csv", "0,0,0\n1,0,0\n0,1,0\n1,1,0\n");
  const CommandResult result = RunOrtEd({"score", model_, rows_, "--anomaly", "--reference", reference});
  EXPECT_THAT(result.out, testing::StartsWith("energy,anomaly\n1,0.26")) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n5,1\n0,0\n"));
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "--reference", reference}).exit_code, 2);
}

TEST_F(Score, WritesNpyAndCsvFiles) {
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "-o", folder_.File("out.csv")}).out, "");
  EXPECT_EQ(FileContents(folder_.File("out.csv")), "energy\n1\n5\n0\n");
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "-o", folder_.File("out.npy")}).exit_code, 0);
  const std::string npy = FileContents(folder_.File("out.npy"));
  EXPECT_THAT(npy, AllOf(HasSubstr("'<f4'"), HasSubstr("(3,)")));
  float energies[3];
  ASSERT_GE(npy.size(), sizeof(energies));
  std::memcpy(energies, npy.data() + npy.size() - sizeof(energies), sizeof(energies));
  EXPECT_THAT(energies, testing::ElementsAre(1, 5, 0));
}

TEST_F(Score, SummaryAsJson) {
  const CommandResult result = RunOrtEd(
      {"score", model_, rows_, "--json", "--threads", "1", "--batch", "2", "-o", folder_.File("e.csv")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"], 3);
  EXPECT_EQ(json["dimension"], 3);
  EXPECT_EQ(json["energy"]["mean"], 2);
  EXPECT_EQ(json["energy"]["min"], 0);
  EXPECT_EQ(json["energy"]["max"], 5);
  EXPECT_NEAR(json["energy"]["standard_deviation"], std::sqrt(7.0), 1e-12);
  EXPECT_EQ(json["not_finite"], 0);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_GT(json["rows_per_second"], 0);
  EXPECT_FALSE(json.contains("log_likelihood"));
  EXPECT_EQ(FileContents(folder_.File("e.csv")), "energy\n1\n5\n0\n");
}

TEST_F(Score, ManyRowsGoThroughInBlocks) {
  std::string rows;
  for (int i = 0; i < 1500000; ++i) rows += "1,0,0\n0,1,0\n";
  const CommandResult result = RunOrtEd({"score", model_, Written("many.csv", rows), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"], 3000000);
  EXPECT_NEAR(json["energy"]["mean"], 1.5, 1e-9);
}

TEST_F(Score, BinarisesGreyValuesWhenAsked) {
  const std::string grey = Written("grey.csv", "0.25,0.75,0.5\n");
  ExpectFailure({"score", model_, grey}, "grey.csv");
  EXPECT_EQ(RunOrtEd({"score", model_, grey, "--binarise", "threshold", "--threshold", "0.5"}).out,
            "energy\n5\n");
  const CommandResult unknown = RunOrtEd({"score", model_, grey, "--binarise", "round"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("--binarise must be one of strict, threshold, once, not 'round'"));
}

TEST_F(Score, EnergiesThatAreNotFiniteAreReported) {
  WriteFileAtomically(model_, ModelFromText(R"(
      <ir_version: 8, opset_import: ["": 17]>
      g (float[N, 3] x) => (float[N] energy) { axes = Constant <value = int64[1] {1}> ()
        logs = Log(x)
        energy = ReduceSum <keepdims = 0> (logs, axes) })"));
  const CommandResult result = RunOrtEd({"score", model_, rows_, "--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("3 of 3 energies are not finite"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["not_finite"], 3);
}

TEST_F(Score, BadModelsFailWithOneMessage) {
  const std::string good = LinearModel(3);
  ExpectFailure({"score", folder_.File("none.onnx"), rows_}, "none.onnx", "no such file");
  ExpectBadModel("", "ONNX");
  ExpectBadModel("this is text", "ONNX");
  ExpectBadModel(good.substr(0, good.size() / 2), "truncated");
  const auto graph = [](const char* text) {
    return ModelFromText("<ir_version: 8, opset_import: [\"\": 17]> " + std::string(text));
  };
  ExpectBadModel(graph("g (float[N] x) => (float[N] y) { y = Neg(x) }"), "'x'", "rank 2");
  ExpectBadModel(graph("g (int64[N, 3] x) => (int64[N, 3] y) { y = Neg(x) }"), "'x'", "int64", "float32");
  ExpectBadModel(graph("g (float[N, 3] a, float[N, 3] b) => (float[N, 3] y) { y = Add(a, b) }"), "2 inputs",
                 "'a', 'b'");
  ExpectBadModel(graph("g (float[N, D] x) => (float[N, D] y) { y = Neg(x) }"), "must be fixed");
  ExpectBadModel(WithExternalData(LinearModel(3), "w", "../../etc/weights").model, "../../etc/weights",
                 "outside the model's folder");
}

TEST_F(Score, BadDataFailsWithOneMessage) {
  ExpectBadData("narrow.csv", "1,0\n", "2", "3");
  ExpectBadData("two.csv", "1,0,0\n0,2,0\n", "line 2, column 2");
  ExpectBadData("nan.csv", "1,0,0\nnan,0,0\n", "line 2, column 1");
  ExpectBadData("empty.csv", "");
  ExpectBadData("header.csv", "a,b,c\n");
  ExpectBadData("ragged.csv", "1,0,0\n1,0\n", "line 2");
  ExpectBadData("magic.npy", "no numpy array");
  ExpectFailure({"score", model_, folder_.File("none.csv")}, "none.csv");
}

TEST_F(Score, ABadValueFarDownLeavesNoFile) {
  std::string rows;
  for (int i = 0; i < 1500000; ++i) rows += "1,0,0\n";
  ExpectBadData("late.csv", rows + "0,7,0\n", "1500001", "7");
}

TEST_F(Score, OutputThatCannotBeWrittenFails) {
  ExpectFailure({"score", model_, rows_, "-o", folder_.File("no/such/folder.npy")}, "folder.npy");
  ExpectFailure({"score", model_, rows_, "-o", folder_.File("out.txt")}, "out.txt", ".npy");
  ExpectFailure({"score", model_, rows_, "-o", folder_.path()});
}

TEST_F(Score, AFullDiskLeavesNoFile) {
  std::string rows;
  for (int i = 0; i < 20000; ++i) rows += "1,0,0\n";
  const std::string many = Written("many.csv", rows);
  const FileSizeLimit limit(8192);
  ExpectFailure({"score", model_, many, "-o", folder_.File("out.npy")}, "out.npy", "File too large");
  const CommandResult to_stdout = RunOrtEd({"score", model_, many});
  EXPECT_EQ(to_stdout.exit_code, 1);
  EXPECT_THAT(to_stdout.err, HasSubstr("standard output"));
}

TEST_F(Score, AMissingDeviceIsAnErrorAndAutoSaysWhatItTook) {
  ExpectFailure({"score", model_, rows_, "--device", "abacus"}, "abacus", "cpu");
  const CommandResult result = RunOrtEd({"score", model_, rows_, "--device", "auto"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("running on "));
  EXPECT_EQ(result.out, "energy\n1\n5\n0\n");
}

TEST_F(Score, LeavesNothingInTheHomeOfTheUser) {
  const TempDir home;
  const std::string saved = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  setenv("HOME", home.path().c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
  const CommandResult result = RunOrtEd({"score", model_, rows_});
  setenv("HOME", saved.c_str(), 1);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(home.path()));
}

TEST_F(Score, AnUnknownOptionListsTheOptions) {
  ExpectFailure({"score", model_, rows_, "--jsn"}, "unknown option '--jsn'; there are --",
                " --json, --anomaly, ");
}

TEST_F(Score, MisuseIsExitCodeTwo) {
  EXPECT_EQ(RunOrtEd({"score", model_}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "--threads", "two"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "--threads", "-1"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "--batch", "-1"}).exit_code, 2);
  EXPECT_EQ(RunOrtEd({"score", model_, rows_, "--json", "-o", "-"}).exit_code, 2);
}

}  // namespace
}  // namespace ort_ed
