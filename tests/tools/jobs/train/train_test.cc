// Trainings in memory, and a run that a former version began.

#include "tools/jobs/train/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/golden/fingerprint.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/metrics.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

class Listener : public Observer {
 public:
  void OnWork(const Work& work) override { works.push_back(work); }
  void OnNotice(const std::string& text) override { notices.push_back(text); }
  void OnSaved(const std::string& path) override { saved.push_back(path); }
  bool StopRequested() override { return static_cast<int64_t>(works.size()) >= stop_after; }

  int64_t stop_after = 1000000;
  std::vector<Work> works;
  std::vector<std::string> notices, saved;
};

// The first three variables are equal, the fourth is free.
RowTable EqualRows(int64_t count) {
  RowTable rows{.rows = count, .columns = 4, .values = {}};
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < 4; ++k) rows.values.push_back(static_cast<uint8_t>((k < 3 ? i : i / 2) % 2));
  return rows;
}

class TrainInMemory : public ::testing::Test {
 protected:
  TrainInMemory() {
    options_.network.model = {"mlp", {{"hidden", "8"}}};
    options_.contrast.method = "bernoulli";
    options_.optimizer.learning_rate = 0.02;
    options_.batch.batch_size = 16;
    options_.run.steps = 60;
    options_.run.threads = 1;
    options_.run.validate_every = {.steps = 20};
    fs::current_path(dir_.path());
  }
  ~TrainInMemory() override { fs::current_path(before_); }

  TrainResult Train(Listener& listener) const {
    return ort_ed::Train(options_, DatasetFromRows(EqualRows(200), options_.data, 0), listener);
  }

  static std::vector<float> Energies(const TrainResult& result, const std::vector<uint8_t>& states) {
    const LoadedModel model(result.model, "trained");
    std::vector<float> energies(states.size() / static_cast<size_t>(model.dimension()));
    model.energy_model().Energy(states, energies);
    return energies;
  }

  const fs::path before_ = fs::current_path();
  TempDir dir_;
  TrainOptions options_;
};

TEST_F(TrainInMemory, GivesAModelThatScoresAndWritesNothing) {
  Listener listener;
  const TrainResult result = Train(listener);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.step, 60);
  ASSERT_TRUE(result.loss.has_value());
  ASSERT_TRUE(result.validation_loss.has_value());
  EXPECT_GT(result.best.step(), 0);
  EXPECT_GT(result.seconds, 0);
  const std::vector<float> energies = Energies(result, {1, 1, 1, 0, 1, 0, 1, 0});
  EXPECT_LT(energies[0], energies[1]);
  EXPECT_TRUE(fs::is_empty(dir_.path()));
  EXPECT_TRUE(listener.saved.empty());
}

TEST_F(TrainInMemory, CarriesTheEnergiesOfItsTrainingRows) {
  options_.data.validation_fraction = 0;
  Listener listener;
  const TrainResult result = Train(listener);
  const LoadedModel model(result.model, "trained");
  const ModelMetadata& metadata = model.metadata();
  ASSERT_TRUE(metadata.training_energies);
  EXPECT_EQ(metadata.training_energies->rows, 200);
  std::vector<float> energies = Energies(result, EqualRows(200).values);
  std::ranges::sort(energies);
  EXPECT_EQ(metadata.training_energies->quantiles.front(), energies.front());
  EXPECT_EQ(metadata.training_energies->quantiles.back(), energies.back());
}

TEST_F(TrainInMemory, FoldersHoldModelsWithTheEnergiesOfTrainingRows) {
  std::ofstream(dir_.File("rows.csv")) << "1,1,1,0\n0,0,0,1\n1,1,1,1\n0,0,0,0\n0,0,0,1\n";
  options_.data.data = dir_.File("rows.csv");
  options_.data.validation_fraction = 0.2;
  Listener listener;
  const TrainResult result = TrainInFolder(options_, dir_.File("run"), ExistingRun::kRefuse, listener);
  for (const char* file : {"run/model.onnx", "run/best.onnx"}) {
    const LoadedModel model(dir_.File(file));
    ASSERT_TRUE(model.metadata().training_energies) << file;
    EXPECT_EQ(model.metadata().training_energies->rows, 4);
  }
  EXPECT_EQ(LoadedModel(result.model, "trained").metadata().training_energies->quantiles,
            LoadedModel(dir_.File("run/model.onnx")).metadata().training_energies->quantiles);
}

TEST_F(TrainInMemory, IsTheSameWhoeverListens) {
  Listener listener;
  Observer nobody;
  const TrainResult heard = Train(listener);
  const TrainResult unheard =
      ort_ed::Train(options_, DatasetFromRows(EqualRows(200), options_.data, 0), nobody);
  EXPECT_EQ(heard.model.SerializeAsString(), unheard.model.SerializeAsString());
}

TEST_F(TrainInMemory, TellsEveryStep) {
  Listener listener;
  Train(listener);
  ASSERT_EQ(listener.works.size(), 60u);
  EXPECT_EQ(listener.works[0].what, "training");
  EXPECT_EQ(listener.works[0].unit, "steps");
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(listener.works[i].done, static_cast<int64_t>(i + 1));
  EXPECT_EQ(listener.works[59].total, 60);
  ASSERT_FALSE(listener.works[59].metrics.empty());
  EXPECT_EQ(listener.works[59].metrics[0].first, "loss");
}

TEST_F(TrainInMemory, StopsWhenAskedWithTheModelAsItIs) {
  Listener listener;
  listener.stop_after = 7;
  const TrainResult result = Train(listener);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.step, 7);
  EXPECT_TRUE(std::isfinite(Energies(result, {1, 1, 1, 0})[0]));
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

// A run of ort-ed before checkpoints told their settings (format 1), cut at step 25 of 60, and what that
// version made of it: tests/tools/jobs/train/data/format1.
class FormerRun : public ::testing::Test {
 protected:
  FormerRun() {
    fs::copy(Data(""), run_, fs::copy_options::recursive);
    fs::remove_all(run_ + "/expected");
  }

  static std::string Data(const std::string& name) { return std::string(ORT_ED_FORMER_RUN) + "/" + name; }

  TrainResult Resume(Listener& listener) const {
    TrainOptions options;
    ReadRunOptions(run_).ApplyTo(options);
    options.data.data = Data("rows.csv");
    return ResumeInFolder(options, run_, listener);
  }

  // As in tests/golden: bits on a machine like the one it was recorded on, else up to rounding.
  static double Tolerance() {
    const bool same_machine =
        nlohmann::json::parse(std::ifstream(Data("expected/fingerprint.json"))) == Fingerprint();
    return same_machine ? 0 : 1e-4;
  }

  static void ExpectNear(double actual, double expected, const std::string& where) {
    EXPECT_NEAR(actual, expected, Tolerance() * std::max(1.0, std::abs(expected))) << where;
  }

  TempDir dir_;
  const std::string run_ = dir_.File("run");
};

TEST_F(FormerRun, DoesNotGoOnWithAnotherConfiguration) {
  const std::string path = run_ + "/config.toml";
  std::string text((std::istreambuf_iterator<char>(std::ifstream(path).rdbuf())), {});
  const size_t rate = text.find("learning_rate = ");
  ASSERT_NE(rate, std::string::npos);
  text.replace(rate, std::string("learning_rate = ").size() + 1, "learning_rate = 9");
  std::ofstream(path) << text;
  Listener listener;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Resume(listener); },
      "not the configuration that the checkpoint was made with");
}

TEST_F(FormerRun, IsOfTheFirstFormat) {
  const Checkpoint checkpoint = ReadCheckpoint(run_ + "/checkpoints/step-25.ckpt");
  EXPECT_EQ(checkpoint.step, 25);
  EXPECT_TRUE(checkpoint.configuration.empty());
  EXPECT_FALSE(checkpoint.running.empty());
  EXPECT_EQ(checkpoint.SelectTensors("energy").size(), checkpoint.state.size());
}

TEST_F(FormerRun, GoesOnAsTheFormerVersionWentOn) {
  Listener listener;
  const TrainResult result = Resume(listener);
  EXPECT_EQ(result.step, 60);
  EXPECT_THAT(listener.notices, testing::Contains("resuming at step 25"));

  auto lines = ReadMetrics(run_ + "/metrics.jsonl");
  for (MetricsLine& line : lines)  // the former version did not tell it
    std::erase_if(line.values, [](const auto& value) { return value.first == kValidationNll; });
  auto expected = ReadMetrics(Data("expected/metrics.jsonl"));
  std::erase_if(expected, [](const MetricsLine& line) { return line.step <= 25; });
  ASSERT_EQ(lines.size(), expected.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i].step, expected[i].step);
    ASSERT_EQ(lines[i].values.size(), expected[i].values.size());
    for (size_t k = 0; k < lines[i].values.size(); ++k) {
      const auto& [name, value] = expected[i].values[k];
      ASSERT_EQ(lines[i].values[k].first, name);
      if (name == "steps_per_second") continue;
      ExpectNear(lines[i].values[k].second, value, name + " of step " + std::to_string(lines[i].step));
    }
  }
}

TEST_F(FormerRun, EndsWithItsWeightsAndMoments) {
  Listener listener;
  Resume(listener);
  const Checkpoint actual = ReadCheckpoint(run_ + "/checkpoints/step-60.ckpt");
  const Checkpoint expected = ReadCheckpoint(Data("expected/step-60.ckpt"));
  EXPECT_FALSE(actual.configuration.empty());  // of the present format
  EXPECT_EQ(actual.data, expected.data);
  ASSERT_EQ(actual.state.size(), expected.state.size());
  for (size_t i = 0; i < actual.state.size(); ++i) {
    const StateTensor &ours = actual.state[i], &theirs = expected.state[i];
    ASSERT_EQ(ours.kind, theirs.kind);
    ASSERT_EQ(ours.parameter, theirs.parameter);
    ASSERT_EQ(ours.values.size(), theirs.values.size());
    for (size_t k = 0; k < ours.values.size(); ++k)
      ExpectNear(ours.values[k], theirs.values[k], ours.kind + " of " + ours.parameter);
  }
}

}  // namespace
}  // namespace ort_ed
