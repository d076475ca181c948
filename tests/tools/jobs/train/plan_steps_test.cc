// Trainings whose length is given as epochs or as a time.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Stops after some steps of a phase, or while the steps are counted.
class Stopper : public Observer {
 public:
  explicit Stopper(int64_t steps, std::string what = "training") : steps_(steps), what_(std::move(what)) {}
  void OnWork(const Work& work) override { stop_ |= work.what == what_ && work.done >= steps_; }
  void OnNotice(const std::string& text) override { notices.push_back(text); }
  bool StopRequested() override { return stop_ || steps_ == 0; }

  std::vector<std::string> notices;

 private:
  int64_t steps_;
  std::string what_;
  bool stop_ = false;
};

class Length : public ::testing::Test {
 protected:
  Length() {
    std::string text;
    for (int i = 0; i < 300; ++i)
      text += fmt::format("{},{},{},{}\n", i % 2, i % 2, i / 2 % 2, i % 5 == 0 ? 1 : 0);
    WriteBytes(dir_.File("rows.csv"), text);
    options_.data.data = dir_.File("rows.csv");
    options_.network.model = {"mlp", {{"hidden", "4"}}};
    options_.batch.batch_size = 16;
    options_.run.threads = 1;
    options_.run.checkpoint_every = {};
  }

  TrainResult Fit(const TrainOptions& options, const std::string& name) {
    return TrainInFolder(options, dir_.File(name), ExistingRun::kRefuse, quiet_);
  }
  TrainOptions Recorded(const std::string& name) const {
    TrainOptions options;
    ReadRunOptions(dir_.File(name)).ApplyTo(options);
    return options;
  }
  TrainResult Resume(const std::string& name) {
    return ResumeInFolder(Recorded(name), dir_.File(name), quiet_);
  }
  static std::string Bits(const TrainResult& result) { return result.model.SerializeAsString(); }

  TempDir dir_;
  TrainOptions options_;
  Observer quiet_;
};

TEST_F(Length, EpochsBecomeSteps) {
  options_.run.epochs = 2.5;  // 270 of 300 rows, 16 a step: 42.2
  EXPECT_EQ(Fit(options_, "run").step, 42);
  EXPECT_EQ(Recorded("run").run.steps, 42);
  EXPECT_FALSE(Recorded("run").run.epochs);
  EXPECT_THAT(Fit(options_, "again").warnings,
              Contains(HasSubstr("2.5 epochs of 270 rows are 42 steps only")));
  options_.data.data = "synth:pinwheel";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Fit(options_, "endless"); }, "epochs", "endless");
  options_.data.data = dir_.File("rows.csv");
  options_.schedule.warmup_steps = 43;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Fit(options_, "short"); }, "warmup_steps", "42");
}

TEST_F(Length, OneOfThreeDecides) {
  for (const auto& [key, other] :
       {std::pair("steps", "time"), std::pair("epochs", "time"), std::pair("steps", "epochs")}) {
    GivenOptions given;
    given.Add(key, "20", "here");
    given.Add(other, other == std::string("time") ? "20s" : "3", "here");
    TrainOptions options;
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { given.ApplyTo(options); }, key, "has no effect");
  }
  options_.run.time = Period{.steps = 20};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Fit(options_, "run"); }, "time", "10m");
}

// Whatever the clock gave, the record gives the same run.
TEST_F(Length, ATimeBecomesStepsThatRepeatTheRun) {
  options_.contrast.method = "bernoulli";
  options_.run.time = Period{.seconds = 0.2};
  const TrainResult result = Fit(options_, "run");
  const TrainOptions recorded = Recorded("run");
  EXPECT_FALSE(recorded.run.time);
  EXPECT_EQ(result.step, recorded.run.steps);
  EXPECT_GT(result.step, 1);
  EXPECT_EQ(Bits(Fit(recorded, "again")), Bits(result));
}

TEST_F(Length, ATimeThatIsInterruptedGoesOnWithItsSteps) {
  options_.contrast.method = "bernoulli";
  options_.run.time = Period{.seconds = 0.2};
  Stopper counting(0);
  EXPECT_FALSE(TrainInFolder(options_, dir_.File("run"), ExistingRun::kRefuse, counting).complete);
  EXPECT_TRUE(Recorded("run").run.time);  // nothing is decided yet
  Stopper training(3);
  EXPECT_FALSE(ResumeInFolder(Recorded("run"), dir_.File("run"), training).complete);
  const int64_t steps = Recorded("run").run.steps;
  EXPECT_THAT(training.notices, Contains(HasSubstr(fmt::format("time for {} steps", steps))));
  const TrainResult result = Resume("run");
  EXPECT_EQ(result.step, steps);
  EXPECT_EQ(Bits(result), Bits(Fit(Recorded("run"), "again")));
}

TEST_F(Length, MoreTimeIsMoreSteps) {
  options_.run.steps = 20;
  const double seconds = Fit(options_, "run").seconds;
  TrainOptions more = Recorded("run");
  more.run.time = Period{.seconds = seconds + 0.3};
  EXPECT_GT(ResumeInFolder(more, dir_.File("run"), quiet_).step, 20);
  more.run.time = Period{.seconds = 0.001};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ResumeInFolder(more, dir_.File("run"), quiet_); }, "time", "over");
}

TEST_F(Length, TheBaseTakesItsShareOfTheTime) {
  options_.network.base = {"made", {{"base_hidden", "4"}, {"base_batch_size", 16}}};
  options_.contrast.method = "refill";
  options_.run.time = Period{.seconds = 0.4};
  Stopper stopper(3, "training the base");
  EXPECT_FALSE(TrainInFolder(options_, dir_.File("run"), ExistingRun::kRefuse, stopper).complete);
  const OptionMap base = Recorded("run").network.base.options;
  ASSERT_TRUE(base.contains("base_steps"));
  EXPECT_TRUE(Recorded("run").run.time);  // what remains is for the network
  Stopper listener(1'000'000);
  const TrainResult result = ResumeInFolder(Recorded("run"), dir_.File("run"), listener);
  EXPECT_THAT(listener.notices,
              AllOf(Contains(HasSubstr("base: resuming at step 3 of")), Not(Contains(HasSubstr("step 0")))));
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(Recorded("run").network.base.options.at("base_steps"), base.at("base_steps"));
  EXPECT_FALSE(Recorded("run").run.time);
  EXPECT_EQ(Bits(result), Bits(Fit(Recorded("run"), "again")));
}

// The time counts for both phases, and the run is still in the first.
TEST_F(Length, MoreTimeIsMoreStepsOfTheBase) {
  options_.network.base = {"made", {{"base_hidden", "4"}, {"base_batch_size", 16}, {"base_patience", 0}}};
  options_.contrast.method = "refill";
  options_.run.time = Period{.seconds = 1};
  Stopper stopper(1, "training the base");
  const TrainResult stopped = TrainInFolder(options_, dir_.File("run"), ExistingRun::kRefuse, stopper);
  EXPECT_FALSE(stopped.complete);
  EXPECT_TRUE(stopped.in_base);
  EXPECT_GE(stopped.step, 1);
  TrainOptions more = Recorded("run");
  more.run.time = Period{.seconds = 20};
  Stopper again(stopped.step + 1, "training the base");
  EXPECT_GT(ResumeInFolder(more, dir_.File("run"), again).step, stopped.step);
  EXPECT_THAT(again.notices, Contains(HasSubstr("steps more fit into its share")));
  const auto steps = [](const TrainOptions& options) {
    return std::stoll(FormatOption(options.network.base.options.at("base_steps")));
  };
  EXPECT_GT(steps(Recorded("run")), 2 * steps(more));
}

TEST_F(Length, ATimeForNextToNothingIsWarnedOf) {
  options_.network.model = {"mlp", {{"hidden", "64"}}};
  options_.batch.batch_size = 256;
  options_.run.time = Period{.seconds = 0.001};
  const TrainResult result = Fit(options_, "run");
  EXPECT_LT(result.step, 100);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("teach next to nothing")));
}

}  // namespace
}  // namespace ort_ed
