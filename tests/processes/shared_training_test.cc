// A training is the same, to the last bit, on any number of processes and threads.

#include <filesystem>

#include "tests/processes/processes_test.h"

namespace ort_ed {
namespace {

class SharedTraining : public ProcessesTest {
 protected:
  using Words = std::vector<std::string>;

  // Trains with `more` on several numbers of processes; what is in their run folders must be the same.
  void ExpectSame(const std::string& name, Words more, const std::vector<int>& numbers = {1, 2, 3, 4}) {
    more.insert(more.end(), {"--shards", "4"});
    for (const int processes : numbers) {
      const std::string run = name + std::to_string(processes);
      RunOn(processes, Small(run, more));
      for (const char* file : {"model.onnx", "best.onnx", "config.toml", "base/best.onnx", "policy.onnx"}) {
        const std::string path = Path(run + "/" + file), first = Path(name + "1/" + file);
        ASSERT_EQ(std::filesystem::exists(path), std::filesystem::exists(first)) << path;
        EXPECT_TRUE(!std::filesystem::exists(first) || SameFiles(path, first)) << path;
      }
      EXPECT_EQ(TimelessMetrics(run), TimelessMetrics(name + "1")) << run;
    }
  }
};

TEST_F(SharedTraining, ByNoise) { ExpectSame("noise", {"--method", "bernoulli"}); }

TEST_F(SharedTraining, OnThreads) {
  ExpectSame("threads", {"--method", "bernoulli", "--threads", "1"}, {1, 2});
  RunOn(1, Small("two", {"--method", "bernoulli", "--threads", "2", "--shards", "4"}));
  EXPECT_TRUE(SameFiles(Path("two/model.onnx"), Path("threads1/model.onnx")));
}

TEST_F(SharedTraining, InShardsThatAreNotAlike) {
  ExpectSame("uneven", {"--method", "bernoulli", "--batch-size", "13", "--micro-batch", "2"});
}

TEST_F(SharedTraining, ByChainsThatPersist) {
  ExpectSame("pcd", {"--method", "pcd", "--model", "rbm", "--hidden", "8", "--sampler", "gibbs"}, {1, 3});
  ExpectSame("pcd_mlp", {"--method", "pcd", "--batch-size", "64", "--sampler", "gwg", "--chain-steps", "5"},
             {1, 3});
}

TEST_F(SharedTraining, ByContrastiveDivergence) {
  ExpectSame("cd", {"--method", "cd", "--batch-size", "64"}, {1, 4});
}

TEST_F(SharedTraining, WithSamplersThatLearn) {
  ExpectSame("gfn", {"--method", "eb-gfn", "--policy-hidden", "16", "--negatives", "1", "--steps", "6"},
             {1, 3});
  ExpectSame(
      "aloe",
      {"--method", "aloe", "--editor-hidden", "16", "--q0-hidden", "16", "--negatives", "1", "--steps", "6"},
      {1, 3});
}

TEST_F(SharedTraining, ByRatios) {
  ExpectSame("ratios", {"--method", "ratio-matching", "--negatives", ""}, {1, 3});
}

TEST_F(SharedTraining, OnALearnedBase) {
  ExpectSame("base", {"--base", "made", "--base-steps", "30", "--method", "draws"}, {1, 3});
  ExpectSame("refill", {"--base", "made", "--base-steps", "30", "--method", "refill"}, {1, 2});
}

TEST_F(SharedTraining, GoesOnWithAnotherNumberOfProcesses) {
  const Words more = {"--method", "pcd", "--shards", "4", "--steps", "40", "--decay", "constant"};
  RunOn(1, Small("whole", more));
  Words half = more;
  half[5] = "17";
  RunOn(4, Small("halves", half));
  const CommandResult resumed = RunOn(3, {"train", "--resume", Path("halves"), "--steps", "40"});
  EXPECT_TRUE(SameFiles(Path("halves/model.onnx"), Path("whole/model.onnx"))) << resumed.err;
}

TEST_F(SharedTraining, TakesEightShardsWhereNothingIsSaid) {
  RunOn(2, Small("two", {"--steps", "5"}));
  EXPECT_THAT(ReadBytes(Path("two/config.toml")), testing::HasSubstr("shards = 8"));
}

TEST_F(SharedTraining, NeedsAShardForEachProcess) {
  const CommandResult result = Launch(3, Small("run", {"--shards", "2"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, testing::HasSubstr("--shards must be 3 or more"));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

}  // namespace
}  // namespace ort_ed
