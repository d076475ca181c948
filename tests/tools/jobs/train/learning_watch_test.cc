#include "tools/jobs/train/learning/learning_watch.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/tools/jobs/counting_observer.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Variables that know nothing of one another.
RowTable IndependentRows(int64_t count, int64_t columns) {
  RowTable rows{.rows = count, .columns = columns, .values = {}};
  RandomStream random(1, 1, 0, 0);
  for (int64_t i = 0; i < count * columns; ++i)
    rows.values.push_back(random.Bernoulli(0.2f + 0.6f * static_cast<float>(i % columns) / columns));
  return rows;
}

// A table of 23 columns with 5 states each, of which one is frequent, as bits: half of the columns follow the
// first.
RowTable OneHotRows(int64_t count) {
  RowTable rows{.rows = count, .columns = 115, .values = {}};
  RandomStream random(2, 1, 0, 0);
  for (int64_t i = 0; i < count; ++i) {
    const auto draw = [&] { return random.Bernoulli(0.9f) ? 0 : random.Below(5); };
    const uint32_t first = draw();
    for (int64_t column = 0; column < 23; ++column) {
      const uint32_t state = column % 2 == 0 ? first : draw();
      for (uint32_t k = 0; k < 5; ++k) rows.values.push_back(k == state);
    }
  }
  return rows;
}

// All ones or all zeros, but for one value in twenty.
RowTable BlackOrWhiteRows(int64_t count) {
  RowTable rows{.rows = count, .columns = 400, .values = {}};
  RandomStream random(3, 1, 0, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t column = 0; column < rows.columns; ++column)
      rows.values.push_back((i % 2 != 0) != random.Bernoulli(0.05f));
  return rows;
}

TrainOptions SmallOptions() {
  TrainOptions options;
  options.network.model = {"mlp", {{"hidden", "16"}}};
  options.batch.batch_size = 32;
  options.run.steps = 250;
  options.run.threads = 1;
  options.run.validate_every = {.steps = 50};
  return options;
}

RunSetup SetUpOn(const RowTable& rows, const TrainOptions& options) {
  Observer quiet;
  return SetUp(options, {.dataset = std::make_shared<Dataset>(DatasetFromRows(rows, options.data, 0))},
               quiet);
}

StepResult Result(double loss, double gradient_norm) {
  StepResult result;
  result.loss = loss;
  result.gradient_norm = gradient_norm;
  return result;
}

TrainOptions NoiseOptions() {
  TrainOptions options = SmallOptions();
  options.contrast.method = "bernoulli";
  return options;
}

class Watch : public ::testing::Test {
 protected:
  void Take(int64_t steps, double loss, double gradient_norm = 0.1) {
    for (int64_t i = 0; i < steps; ++i) watch_.AddStep(Result(loss, gradient_norm));
  }

  const double told_all_ = -std::log(4.0), told_nothing_ = std::log(5.0 / 4.0);  // of M = 4 negatives
  RunSetup setup_ = SetUpOn(IndependentRows(100, 20), NoiseOptions());
  LearningWatch watch_{setup_};
};

TEST_F(Watch, SaysNothingOfAFewSteps) {
  Take(10, told_all_);
  EXPECT_TRUE(watch_.Judge().learned);
}

TEST_F(Watch, FindsNegativesThatAreEasyFromTheStart) {
  Take(100, told_all_ + 0.001);
  EXPECT_FALSE(watch_.Judge().learned);
  EXPECT_THAT(watch_.Judge().text, HasSubstr("a smaller epsilon (epsilon 0.075)"));
  Take(300, told_all_ + 0.5);  // a hard start is over
  EXPECT_TRUE(watch_.Judge().learned);
}

TEST_F(Watch, NegativesThatBecomeEasyHaveTaughtSomething) {
  Take(200, 0);
  Take(1000, told_all_);
  EXPECT_TRUE(watch_.Judge().learned);
  EXPECT_THAT(watch_.Judge().text, IsEmpty());
}

TEST_F(Watch, FindsALossThatStaysWhereAllEnergiesAreEqual) {
  Take(100, told_nothing_ + 1e-4);
  EXPECT_FALSE(watch_.Judge().learned);
  EXPECT_THAT(watch_.Judge().text, HasSubstr("learning rate"));
  Take(100, told_nothing_ - 0.05);
  EXPECT_TRUE(watch_.Judge().learned);
}

TEST_F(Watch, FindsAGradientThatVanished) {
  Take(1000, 0, 1e-9);
  EXPECT_FALSE(watch_.Judge().learned);
  EXPECT_THAT(watch_.Judge().text, HasSubstr("gradient has vanished"));
}

TEST_F(Watch, TheLikelihoodDecidesWhereItIsKnown) {
  Take(100, told_all_);
  watch_.AddValidation({.nll = 9, .effective = 12}, 10);  // too few draws to believe it
  EXPECT_FALSE(watch_.Judge().learned);
  watch_.AddValidation({.nll = 9.5}, 10);
  watch_.AddValidation({.nll = 10.5}, 10);  // the best one counts
  EXPECT_TRUE(watch_.Judge().learned);
}

TEST_F(Watch, ABaseThatIsEnoughIsNoFailureButAWorseModelIs) {
  Take(100, 0);
  LearningWatch worse = watch_;
  watch_.AddValidation({.nll = 10.005}, 10);
  EXPECT_TRUE(watch_.Judge().learned);
  EXPECT_THAT(watch_.Judge().text, HasSubstr("independent variables explain the data"));
  worse.AddValidation({.nll = 10.5}, 10);
  EXPECT_FALSE(worse.Judge().learned);
  EXPECT_THAT(worse.Judge().text, HasSubstr("by 0.50 nats"));
}

TEST_F(Watch, GoesOnAfterAnInterruption) {
  Take(100, told_all_);
  LearningWatch resumed(setup_);
  resumed.Reset(watch_.sums());
  EXPECT_EQ(resumed.Judge().text, watch_.Judge().text);
  EXPECT_FALSE(resumed.Judge().learned);
}

TrainResult Fit(const RowTable& rows, const TrainOptions& options, CountingObserver& observer) {
  return Train(options, DatasetFromRows(rows, options.data, 0), observer);
}

TEST(Learning, OfNoiseThatTearsRowsApartIsNone) {
  TrainOptions options = SmallOptions();
  options.contrast.method = {"bernoulli", {{"epsilon", 0.1}}};
  CountingObserver observer;
  const TrainResult torn = Fit(OneHotRows(1000), options, observer);
  EXPECT_FALSE(torn.learning.learned);
  EXPECT_THAT(observer.warnings, Contains(HasSubstr("epsilon 0.013")));
  EXPECT_THAT(torn.warnings, Contains(torn.learning.text));
  options.contrast.method = {"bernoulli", {{"epsilon", 0.013}}};
  EXPECT_TRUE(Fit(OneHotRows(1000), options, observer).learning.learned);
}

TEST(Learning, OfConstantRowsIsNone) {
  CountingObserver observer;
  const RowTable rows{.rows = 100, .columns = 8, .values = std::vector<uint8_t>(800, 1)};
  EXPECT_FALSE(Fit(rows, SmallOptions(), observer).learning.learned);
  EXPECT_THAT(observer.warnings, Contains(HasSubstr("every row is the same")));
}

// A base that knows nothing of how columns go together, and few wide rows: soon nothing is left to tell.
TEST(Learning, OnABaseThatMissesMuchEndsAtTheBoundOfTheLoss) {
  TrainOptions options = SmallOptions();
  options.network.base = {"made", {{"base_hidden", "1"}, {"base_steps", 2}}};
  options.contrast.method = "draws";
  options.network.model = {"mlp", {{"hidden", "64"}}};
  options.optimizer.learning_rate = 0.01;
  options.run.steps = 600;
  options.run.validate_every = {.steps = 100};
  CountingObserver observer;
  const TrainResult result = Fit(BlackOrWhiteRows(60), options, observer);
  EXPECT_TRUE(result.learning.learned);
  EXPECT_THAT(result.learning.text, HasSubstr("tells every draw of the base from the rows"));
  EXPECT_THAT(observer.notices, Contains(result.learning.text));
  EXPECT_LT(result.best.step(), 100);  // later ones are no better
}

TEST(Learning, OfIndependentVariablesIsLeftToTheBase) {
  for (const int64_t columns : {10, 40}) {  // likelihoods by enumeration, by draws
    CountingObserver observer;
    const TrainResult result = Fit(IndependentRows(5000, columns), SmallOptions(), observer);
    EXPECT_TRUE(result.learning.learned);
    EXPECT_THAT(observer.notices, Contains(HasSubstr("independent variables explain the data")));
    EXPECT_THAT(observer.warnings, IsEmpty());
  }
}

}  // namespace
}  // namespace ort_ed
