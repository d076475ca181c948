// What `train` does where nothing is said of method and base.

#include "tools/jobs/train/learned_base/choose_base.h"

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/run_setup.h"

namespace ort_ed {
namespace {

RowTable Rows(int64_t rows, int64_t columns) {
  RowTable table{.rows = rows, .columns = columns, .values = {}};
  RandomStream random(1, 2, 3, 4);
  for (int64_t i = 0; i < rows * columns; ++i) table.values.push_back(static_cast<uint8_t>(random.Below(2)));
  return table;
}

TrainOptions SetUpWith(TrainOptions options, int64_t rows, int64_t columns) {
  Observer quiet;
  auto dataset = std::make_shared<Dataset>(DatasetFromRows(Rows(rows, columns), options.data, 0));
  return SetUp(options, {.dataset = dataset}, quiet).options;
}

void ExpectChosen(const TrainOptions& options, const char* method, const char* base) {
  EXPECT_EQ(options.contrast.method.kind, method);
  EXPECT_EQ(options.network.base.kind, base);
}

TEST(ChooseBase, WideRowsLearnTheirBase) {
  ExpectChosen(SetUpWith({}, 2000, 40), "draws", "made");
  ExpectChosen(SetUpWith({}, 20, 40), "draws", "made");
}

TEST(ChooseBase, FewStatesOfManyRowsDoWithout) {
  ExpectChosen(SetUpWith({}, 2000, 10), "bernoulli", "data");
  ExpectChosen(SetUpWith({}, 40, 9), "draws", "made");
}

int64_t BaseStepsOf(int64_t columns) {
  return MakeOptions<MadeBaseOptions>(SetUpWith({}, 20, columns).network.base.options).base_steps.value();
}

TEST(ChooseBase, ManyWeightsTakeFewerSteps) {
  EXPECT_EQ(BaseStepsOf(40), 8000);
  EXPECT_EQ(BaseStepsOf(1500), 4800);  // 1.8e10 / (1500 * 1500 + 2 * 1500 * 500)
}

RunOptions PhaseOn(int64_t rows) {
  TrainOptions options;
  options.network.base = {"made", {{"base_steps", int64_t{8000}}, {"base_batch_size", int64_t{100}}}};
  Dataset dataset;
  dataset.training_rows = rows;
  return BasePhaseOptions(options, dataset).run;
}

TEST(BasePhase, IsValidatedOftenWhereRowsAreFewAndAsPatient) {
  EXPECT_EQ(PhaseOn(60000).validate_every.steps, 400);
  EXPECT_EQ(PhaseOn(60000).patience, 5);
  EXPECT_EQ(PhaseOn(2500).validate_every.steps, 50);
  EXPECT_EQ(PhaseOn(2500).patience, 40);
  EXPECT_EQ(PhaseOn(70).validate_every.steps, 10);
}

TEST(ChooseBase, ImagesGetAView) {
  TrainOptions options;
  options.network.image_shape = "5x8";
  const TrainOptions chosen = SetUpWith(options, 2000, 40);
  ExpectChosen(chosen, "draws", "made");
  EXPECT_EQ(FormatOption(chosen.network.base.options.at("base_view")), "5x9");
}

TEST(ChooseBase, WhatWasSaidIsDone) {
  TrainOptions method, noise, base, model;
  method.contrast.method = "bernoulli";
  ExpectChosen(SetUpWith(method, 2000, 40), "bernoulli", "data");
  noise.contrast.method.options = {{"epsilon", 0.05}};
  ExpectChosen(SetUpWith(noise, 2000, 40), "bernoulli", "data");
  base.network.base = "none";
  ExpectChosen(SetUpWith(base, 2000, 40), "bernoulli", "none");
  base.network.base = "made";
  ExpectChosen(SetUpWith(base, 100, 12), "draws", "made");
  model.network.model = "rbm";
  ExpectChosen(SetUpWith(model, 2000, 40), "bernoulli", "none");
}

TEST(ChooseBase, AnOptionOfALearnedBaseChoosesIt) {
  TrainOptions options;
  options.network.base.options = {
      {"base_hidden", std::vector<int64_t>{512}}};  // its default, but it was said
  const TrainOptions chosen = SetUpWith(options, 100, 12);
  ExpectChosen(chosen, "draws", "made");
  EXPECT_EQ(FormatOption(chosen.network.base.options.at("base_hidden")), "512");
  options.contrast.method = "bernoulli";
  ExpectChosen(SetUpWith(options, 100, 12), "bernoulli", "made");
  options.network.base.options["base_smoothing"] = 0.2;
  EXPECT_THROW(SetUpWith(options, 100, 12), OptionError);
}

TEST(ChooseBase, AProgramThatNamesEverythingChoosesNothing) {
  const TrainOptions defaults;
  const auto everything = MakeOptions<TrainOptions>(GetOptions(SchemaOf<TrainOptions>(), &defaults));
  ExpectChosen(SetUpWith(everything, 100, 40), "bernoulli", "data");
}

}  // namespace
}  // namespace ort_ed
