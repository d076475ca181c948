// What several processes compute is what one computes, to the last bit.

#include "tests/processes/processes_test.h"

namespace ort_ed {
namespace {

class SharedJobs : public ProcessesTest {
 protected:
  void SetUp() override {
    ProcessesTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(Train("run", {"--steps", "60"}).exit_code, 0);
    ASSERT_EQ(RunOrtEd({"new", "ising", "-D", "40", "--scale", "0.2", "-o", Path("ising.onnx")}).exit_code,
              0);
  }

  // Of every number of processes: what the command prints, without what depends on the clock, and the file
  // that it writes.
  void ExpectSame(std::vector<std::string> arguments, const std::string& output,
                  const std::vector<int>& numbers = {1, 2, 3, 4}) {
    std::string expected_text, expected_file;
    for (const int processes : numbers) {
      const std::string file = output.empty() ? "" : Path(std::to_string(processes) + output);
      std::vector<std::string> all = arguments;
      if (!file.empty()) all.insert(all.end(), {"-o", file});
      const std::string text = RunOn(processes, all).out;
      const std::string bytes = file.empty() ? "" : ReadBytes(file);
      if (processes == 1) {
        expected_text = text;
        expected_file = bytes;
        EXPECT_FALSE(text.empty() && bytes.empty());
      }
      EXPECT_EQ(bytes, expected_file) << processes << " processes";
      EXPECT_TRUE(!file.empty() || text == expected_text) << processes << " processes: " << text;
    }
  }
};

TEST_F(SharedJobs, Scores) {
  ExpectSame({"score", Path("run/model.onnx"), Path("rows.csv")}, ".csv");
  ExpectSame({"score", Path("run/model.onnx"), Path("rows.csv"), "--anomaly"}, ".npy");
}

TEST_F(SharedJobs, ScoresOnTheStandardOutput) {
  ExpectSame({"score", Path("run/model.onnx"), Path("rows.csv")}, "");
}

TEST_F(SharedJobs, LogZOfANetworkByAnnealing) {
  ExpectSame({"logz", Path("run/model.onnx"), "--estimator", "ais", "--chains", "600", "--temperatures", "20",
              "--json"},
             "");
}

TEST_F(SharedJobs, LogZOfCouplingsByAnnealing) {
  ExpectSame({"logz", Path("ising.onnx"), "--estimator", "ais", "--chains", "150", "--temperatures", "50",
              "--spacing", "adaptive", "--json"},
             "");
  ExpectSame({"logz", Path("ising.onnx"), "--estimator", "raise", "--chains", "150", "--temperatures", "50",
              "--json"},
             "");
}

TEST_F(SharedJobs, Samples) {
  const std::vector<std::vector<std::string>> samplers = {
      {"--sampler", "gibbs"}, {"--sampler", "gwg"}, {"--sampler", "tempering", "--temperatures", "3"}};
  for (const std::string& model : {Path("run/model.onnx"), Path("ising.onnx")}) {
    for (const auto& sampler : samplers) {
      std::vector<std::string> arguments = {"sample", model, "-n", "700", "--chains", "350", "--steps", "20"};
      arguments.insert(arguments.end(), sampler.begin(), sampler.end());
      ExpectSame(arguments, ".npy", {1, 3});
    }
  }
}

TEST_F(SharedJobs, Evaluates) {
  ExpectSame({"eval", Path("run/model.onnx"), "--data", Path("rows.csv"), "--estimator", "ais", "--chains",
              "300", "--temperatures", "20", "--samples", "300", "--steps", "10", "--json"},
             "");
}

TEST_F(SharedJobs, OneProcessOfManyCannotReadTheStandardInput) {
  const CommandResult result = Launch(2, {"score", Path("run/model.onnx"), "-"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, testing::HasSubstr("name a file instead of -"));
}

TEST_F(SharedJobs, OtherCommandsAreForOneProcess) {
  const CommandResult result = Launch(2, {"inspect", Path("run/model.onnx")});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, testing::HasSubstr("`inspect` is done by one process"));
}

}  // namespace
}  // namespace ort_ed
