#include "tools/jobs/log_z/annealing_state_file.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <zlib.h>

#include "tests/sampler/test_energies.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/log_z/annealing_run.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAreArray;

constexpr int64_t kDimension = 5;
constexpr char kPhase[] = "ais";

class AnnealingStateOnDisk : public ::testing::Test {
 protected:
  AnnealingStateOnDisk() {
    plan_.options.temperatures = 20;
    plan_.options.chains = 6;
    plan_.options.chains_at_once = 4;
    plan_.options.seed = 3;
  }

  Annealing Begin() const { return Annealing::Forward(plan_.path, plan_.options); }
  AnnealingStateFile File() const { return {path_, plan_.Describe()}; }

  void StoreAfter(int64_t work) const {
    Annealing annealing = Begin();
    while (annealing.done_work() < work) annealing.Advance(1);
    File().Store(kPhase, annealing.state());
  }
  void StoreHalfWay() const { StoreAfter(Begin().total_work() / 2); }

  // Whatever the refusal, the file stays.
  void ExpectRefused(const AnnealingPlan& plan, const std::string& message) const {
    const std::string before = FileContents(path_);
    ExpectError(
        ErrorCode::kBadData, [&] { AnnealingStateFile(path_, plan.Describe()); }, message);
    EXPECT_EQ(FileContents(path_), before);
  }

  void ExpectDifference(const std::string& name, const std::function<void(AnnealingPlan&)>& change) const {
    AnnealingPlan other = plan_;
    change(other);
    ExpectRefused(other, "is the state of another run: it differs in " + name + ";");
  }

  TempDir dir_;
  const std::string path_ = dir_.File("ais.state");
  AnnealingPlan plan_ = {.estimator = "ais",
                         .model_digest = "1:2",
                         .path = EnergyPath(DenseEnergy(kDimension, 0.3, 1)),
                         .options = {}};
};

TEST_F(AnnealingStateOnDisk, ContinuesToTheResultOfAnUninterruptedRun) {
  Annealing whole = Begin();
  whole.Run();
  // At the start, within the first chains, within those that had to wait, at the end.
  for (const int64_t work : {int64_t{0}, int64_t{40}, int64_t{100}, whole.total_work()}) {
    StoreAfter(work);
    Annealing continued = Begin();
    continued.Restore(*File().Find(kPhase));
    EXPECT_EQ(continued.done_work(), work);
    continued.Run();
    EXPECT_THAT(continued.log_weights(), ElementsAreArray(whole.log_weights()));
    EXPECT_EQ(continued.Estimate().log_z, whole.Estimate().log_z);
    EXPECT_EQ(continued.counters().energy_evaluations, whole.counters().energy_evaluations);
    EXPECT_EQ(continued.Samples(4), whole.Samples(4));
  }
}

TEST_F(AnnealingStateOnDisk, EveryFlippedByteAndEveryTruncationIsFound) {
  StoreHalfWay();
  const std::string whole = FileContents(path_);
  const auto expect_damaged = [&](const std::string& bytes) {
    WriteBytes(path_, bytes);
    ExpectRefused(plan_, "ais.state' is damaged or no state");
  };
  for (size_t i = 0; i < whole.size(); i += 7) {
    std::string flipped = whole;
    flipped[i] ^= 0x10;
    expect_damaged(flipped);
    expect_damaged(whole.substr(0, i));
  }
  expect_damaged("something else entirely");
}

TEST_F(AnnealingStateOnDisk, OfAnotherPlanNamesWhatDiffers) {
  StoreHalfWay();
  ExpectDifference("seed", [](AnnealingPlan& plan) { plan.options.seed = 4; });
  ExpectDifference("chains", [](AnnealingPlan& plan) { plan.options.chains = 7; });
  ExpectDifference("chains at once", [](AnnealingPlan& plan) { plan.options.chains_at_once = 3; });
  ExpectDifference("temperatures", [](AnnealingPlan& plan) { plan.options.temperatures = 21; });
  ExpectDifference("spacing", [](AnnealingPlan& plan) { plan.options.spacing = Spacing::kSigmoid; });
  ExpectDifference("sampler", [](AnnealingPlan& plan) { plan.options.sampler = "gwg"; });
  ExpectDifference("scan", [](AnnealingPlan& plan) {
    plan.options.sampler = {"gibbs", {{"scan", "random"}}};
  });
  ExpectDifference("updates", [](AnnealingPlan& plan) {
    plan.options.sampler = {"gibbs", {{"updates", 2}}};
  });
  ExpectDifference("base", [](AnnealingPlan& plan) {
    plan.path.base = std::make_shared<BernoulliBase>(std::vector<float>(kDimension, 0.3f));
  });
  ExpectDifference("estimator, starting rows", [](AnnealingPlan& plan) {
    plan.estimator = "raise";
    plan.starts = std::vector<float>(kDimension);
  });
  ExpectDifference("chains, seed", [](AnnealingPlan& plan) { plan.options.chains = plan.options.seed = 9; });
  ExpectDifference("model", [](AnnealingPlan& plan) { plan.model_digest = "1:3"; });
}

TEST_F(AnnealingStateOnDisk, OfAnOlderVersionIsRefusedByName) {
  const auto bytes = nlohmann::json::to_cbor({{"format", "ort-ed annealing 4"}});
  WriteBytes(path_, fmt::format("{:08x}", crc32_z(0, bytes.data(), bytes.size())) +
                        std::string(bytes.begin(), bytes.end()));
  ExpectRefused(plan_, "another version of ort-ed (ort-ed annealing 4, not ort-ed annealing 5)");
}

TEST_F(AnnealingStateOnDisk, ThreadsAndDefaultsThatAreSpelledOutMayChange) {
  StoreHalfWay();
  plan_.options.threads = 3;
  plan_.options.sampler = {"gibbs", {{"scan", "systematic"}}};
  EXPECT_NO_THROW(File());
}

TEST_F(AnnealingStateOnDisk, KeepsTheStatesOfAllPhases) {
  AnnealingStateFile file = File();
  EXPECT_FALSE(std::filesystem::exists(path_));  // opening writes nothing
  Annealing first = Begin(), second = Begin();
  first.Run();
  second.Advance(3);
  file.Store("first", first.state());
  EXPECT_EQ(File().Find("second"), nullptr);
  file.Store("second", second.state());
  const AnnealingStateFile read = File();
  EXPECT_THAT(read.Find("first")->log_weights, ElementsAreArray(first.log_weights()));
  EXPECT_EQ(read.Find("second")->moves, 3);
  EXPECT_EQ(read.Find("third"), nullptr);
}

TEST_F(AnnealingStateOnDisk, AFileThatAppearsInTheMeantimeStays) {
  AnnealingStateFile file = File();
  WriteBytes(path_, "somebody's");
  ExpectError(
      ErrorCode::kIo, [&] { file.Store(kPhase, Begin().state()); }, "was left as it is");
  EXPECT_EQ(FileContents(path_), "somebody's");
}

TEST_F(AnnealingStateOnDisk, WhereNothingCanBeWrittenIsToldAtOnce) {
  ExpectError(
      ErrorCode::kIo, [&] { AnnealingStateFile(dir_.File("no/such/state"), plan_.Describe()); },
      "no/such/state");
}

}  // namespace
}  // namespace ort_ed
