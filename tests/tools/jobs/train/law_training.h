#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/train/stopper.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {

// Trainings on rows drawn from a law that is known, so that what they learn can be told by enumeration.

inline constexpr int64_t kDimension = 8;
inline constexpr int64_t kRows = 20000;

// The law of the data: couplings of both signs and fields.
inline Law TruthWith(double coupling) { return ExactLaw(EnergyPath(DenseEnergy(kDimension, coupling, 3))); }

inline const Law& Truth() {
  static const Law law = TruthWith(1.0);
  return law;
}

inline RowTable DrawnRows(int64_t count = kRows, const Law& truth = Truth()) {
  RowTable rows{.rows = count, .columns = kDimension, .values = {}};
  for (const float bit : DrawFrom(truth, kDimension, count, 1))
    rows.values.push_back(static_cast<uint8_t>(bit));
  return rows;
}

// KL(truth || model), over all states.
inline double Divergence(const onnx::ModelProto& proto, const Law& truth = Truth()) {
  const LoadedModel model(proto, "trained");
  const std::vector<float> states = AllStates(kDimension);
  std::vector<float> energies(truth.size());
  model.energy_model().Energy(states, energies);
  double partition = 0, divergence = 0;
  for (const float energy : energies) partition += std::exp(-double{energy});
  for (size_t s = 0; s < energies.size(); ++s)
    divergence += truth[s] * (std::log(truth[s]) + energies[s] + std::log(partition));
  return divergence;
}

inline TrainOptions Options(const Choice& model, const Choice& method) {
  TrainOptions options;
  options.network.model = model;
  options.contrast.method = method;
  options.contrast.negatives = 1;
  options.optimizer.learning_rate = 0.01;
  options.optimizer.ema = 0.99;
  options.batch.batch_size = 256;
  options.run.steps = 1500;
  options.run.threads = 1;
  return options;
}

inline TrainResult Fit(const TrainOptions& options, const Law& truth = Truth()) {
  Observer quiet;
  return Train(options, DatasetFromRows(DrawnRows(kRows, truth), options.data, 0), quiet);
}

inline const Choice kIsing("ising", {{"field", "0"}});
inline const Choice kMlp("mlp", {{"hidden", "32,32"}});

// The rows of DrawnRows() in a file, and a folder to train in.
class LawRun : public ::testing::Test {
 protected:
  LawRun() {
    const RowTable rows = DrawnRows(200);
    std::string text;
    for (size_t i = 0; i < rows.values.size(); ++i)
      text += std::to_string(rows.values[i]) + ((i + 1) % kDimension == 0 ? "\n" : ",");
    WriteBytes(dir_.File("rows.csv"), text);
  }

  TrainOptions Small(const Choice& model, const Choice& method) const {
    TrainOptions options = Options(model, method);
    options.data.data = dir_.File("rows.csv");
    options.batch.batch_size = 16;
    options.run.steps = 12;
    options.run.validate_every = {.steps = 6};
    return options;
  }

  std::string Checkpoint(const std::string& run) const {
    return ReadBytes(dir_.File(run + "/checkpoints/step-12.ckpt"));
  }

  TempDir dir_;
  Observer quiet_;
};

}  // namespace ort_ed
