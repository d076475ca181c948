#include "tools/jobs/annealing_state.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAreArray;

constexpr int64_t kDimension = 5;

class AnnealingStateOnDisk : public ::testing::Test {
 protected:
  AnnealingStateOnDisk() {
    WriteBytes(plan_.model, LinearModel(kDimension));
    plan_.options.temperatures = 20;
    plan_.options.chains = 6;
    plan_.options.chains_at_once = 4;
    plan_.options.seed = 3;
  }

  Annealing Begin() const { return Annealing::Forward(plan_.target, plan_.options); }
  AnnealingStateFile File() const { return {path_, plan_}; }

  void StoreAfter(int64_t work) const {
    Annealing annealing = Begin();
    while (annealing.done_work() < work) annealing.Advance(1);
    File().Store(annealing.state());
  }
  void StoreHalfWay() const { StoreAfter(Begin().total_work() / 2); }

  void ExpectDifference(const std::string& name, const std::function<void(AnnealingPlan&)>& change) const {
    AnnealingPlan other = plan_;
    change(other);
    ExpectError(
        ErrorCode::kBadData, [&] { AnnealingStateFile(path_, other).Load(); },
        "is the state of another run: it differs in " + name + ";");
  }

  TempDir dir_;
  const std::string path_ = dir_.File("ais.state");
  AnnealingPlan plan_ = {
      .model = dir_.File("model.onnx"), .target = EnergyPath(DenseEnergy(kDimension, 0.3, 1)), .options = {}};
};

TEST_F(AnnealingStateOnDisk, ContinuesToTheResultOfAnUninterruptedRun) {
  Annealing whole = Begin();
  whole.Run();
  // At the start, within the first chains, within those that had to wait, at the end.
  for (const int64_t work : {int64_t{0}, int64_t{40}, int64_t{100}, whole.total_work()}) {
    StoreAfter(work);
    Annealing continued = Begin();
    continued.Restore(File().Load());
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
  const std::string whole = ReadBytes(path_);
  const auto expect_damaged = [&](const std::string& bytes) {
    WriteBytes(path_, bytes);
    ExpectError(
        ErrorCode::kBadData, [&] { File().Load(); }, "ais.state' is damaged or no state");
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
  ExpectDifference("scan", [](AnnealingPlan& plan) { plan.options.sampler_options.scan = Scan::kRandom; });
  ExpectDifference("block", [](AnnealingPlan& plan) { plan.options.sampler_options.block = 2; });
  ExpectDifference("base", [](AnnealingPlan& plan) {
    plan.target.base = BernoulliBase(std::vector<float>(kDimension, 0.3f));
  });
  ExpectDifference("direction, starting rows",
                   [](AnnealingPlan& plan) { plan.starts = std::vector<float>(kDimension); });
  ExpectDifference("chains, seed", [](AnnealingPlan& plan) { plan.options.chains = plan.options.seed = 9; });
}

TEST_F(AnnealingStateOnDisk, OfAnotherModelInTheSameFileIsRefused) {
  StoreHalfWay();
  WriteBytes(plan_.model, WithMetadata(LinearModel(kDimension), "author", "me"));
  ExpectDifference("model", [](AnnealingPlan&) {});
}

TEST_F(AnnealingStateOnDisk, ThreadsMayChange) {
  StoreHalfWay();
  plan_.options.sampler_options.threads = 3;
  EXPECT_NO_THROW(File().Load());
}

TEST_F(AnnealingStateOnDisk, WithoutAPathNothingIsStored) {
  const AnnealingStateFile none("", plan_);
  none.Store(Begin().state());
  EXPECT_FALSE(none.Exists());
  EXPECT_FALSE(File().Exists());
  File().Store(Begin().state());
  EXPECT_TRUE(File().Exists());
}

}  // namespace
}  // namespace ort_ed
