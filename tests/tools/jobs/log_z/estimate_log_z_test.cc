#include "tools/jobs/log_z/estimate_log_z.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/file_contents.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kDimension = 4;

// Of U = sum (i + 1) x_i the sum over all states is a product.
double LinearLogZ() {
  double log_z = 0;
  for (int i = 1; i <= kDimension; ++i) log_z += std::log1p(std::exp(-i));
  return log_z;
}

class LogZJob : public ::testing::Test {
 protected:
  LogZJob() { WriteBytes(path_, LinearModel(kDimension)); }

  LogZResult Estimate(const Choice& estimator, Observer& observer, const std::string& state = "") const {
    return EstimateLogZ(LoadedModel(path_), {.estimator = estimator, .seed = 4}, nullptr, state, observer);
  }
  LogZEstimate Estimate(const Choice& estimator) const {
    Observer observer;
    return Estimate(estimator, observer).estimate;
  }

  TempDir dir_;
  const std::string path_ = dir_.File("model.onnx"), state_ = dir_.File("state");
};

TEST_F(LogZJob, EveryEstimatorFindsTheValue) {
  EXPECT_NEAR(Estimate("exact").log_z, LinearLogZ(), 1e-6);
  EXPECT_EQ(Estimate("auto").method, "exact");
  for (const Choice& estimator :
       {Choice("ais", {{"temperatures", 50}}), Choice("raise", {{"temperatures", 50}, {"sampler", "gwg"}}),
        Choice("is", {{"proposals", 20000}})}) {
    const LogZEstimate estimate = Estimate(estimator);
    EXPECT_NEAR(estimate.log_z, LinearLogZ(), 5 * estimate.standard_error) << estimator.kind;
  }
}

TEST_F(LogZJob, AnEstimatorTakesItsOwnOptionsOnly) {
  EXPECT_THROW(Estimate({"exact", {{"chains", 8}}}), OptionError);
  EXPECT_THROW(Estimate({"is", {{"proposals", 1}}}), OptionError);
  EXPECT_THROW(Estimate({"ais", {{"sampler", "tempering"}}}), OptionError);
  EXPECT_THROW(Estimate("guess"), OptionError);
}

TEST_F(LogZJob, MetadataAreAnEstimate) {
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Estimate("metadata"); }, "carries no log Z");
  const LoadedModel model(path_);
  WriteLogZ(model, Estimate("exact"));
  EXPECT_EQ(Estimate("metadata").log_z, Estimate("exact").log_z);
}

TEST_F(LogZJob, RaiseStartsFromGivenRows) {
  const RowTable data{1, kDimension, std::vector<uint8_t>(kDimension, 0)};
  CountingObserver observer;
  const LogZResult result =
      EstimateLogZ(LoadedModel(path_), {.estimator = {"raise", {{"temperatures", 9}}}}, &data, "", observer);
  EXPECT_EQ(result.estimate.samples, 1);
  EXPECT_THAT(observer.phases, testing::Not(testing::Contains("drawing samples")));
}

TEST_F(LogZJob, WhatIsNotReliableIsWarnedOfAndNotWritten) {
  CountingObserver observer;
  const LogZResult result = Estimate({"ais", {{"chains", 3}, {"temperatures", 5}}}, observer);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("chains")));
  EXPECT_EQ(observer.warnings, result.warnings);
  const std::string before = FileContents(path_);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { WriteLogZ(LoadedModel(path_), result.estimate); },
      "model.onnx' was left as it is: only 2.2 effective chains of 3");
  LogZEstimate infinite;
  infinite.log_z = INFINITY;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { WriteLogZ(LoadedModel(path_), infinite); }, "not finite");
  EXPECT_EQ(FileContents(path_), before);
}

// Stopped in either phase, a raise that draws its own starts continues to the result of a run in one go.
TEST_F(LogZJob, TwoPhasesShareOneStateFile) {
  const Choice raise = {"raise", {{"temperatures", 30}, {"chains", 5}}};
  const double whole = Estimate(raise).log_z;
  for (const int64_t looks : {int64_t{10}, int64_t{45}}) {
    CountingObserver impatient(looks);
    ExpectError(
        ErrorCode::kInterrupted, [&] { Estimate(raise, impatient, state_); }, "continues from");
    EXPECT_THAT(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 2);
    CountingObserver patient;
    const LogZResult result = Estimate(raise, patient, state_);
    EXPECT_EQ(result.estimate.log_z, whole);
    EXPECT_THAT(patient.notices.front(), HasSubstr("drawing samples: continuing at"));
    EXPECT_EQ(patient.notices.size(), looks < 30 ? 1u : 2u);
    // Finished, the same call has the result at once; the caller removes the file.
    CountingObserver again;
    EXPECT_EQ(Estimate(raise, again, state_).estimate.log_z, whole);
    EXPECT_EQ(result.state_file, state_);
    std::filesystem::remove(state_);
  }
}

TEST_F(LogZJob, WithoutAnnealingThereIsNoState) {
  WriteBytes(state_, "somebody's");
  Observer observer;
  for (const char* estimator : {"exact", "auto"})
    EXPECT_THAT(Estimate(estimator, observer, state_).state_file, IsEmpty());
  EXPECT_EQ(FileContents(state_), "somebody's");
}

TEST_F(LogZJob, AnotherModelInTheSameFileIsAnotherRun) {
  CountingObserver impatient(3);
  EXPECT_THROW(Estimate({"ais", {{"temperatures", 30}}}, impatient, state_), Error);
  WriteBytes(path_, WithMetadata(LinearModel(kDimension), "author", "me"));
  Observer observer;
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        Estimate({"ais", {{"temperatures", 30}}}, observer, state_);
      },
      "it differs in model;");
}

}  // namespace
}  // namespace ort_ed
