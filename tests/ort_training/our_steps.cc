// our_steps RUN STEPS FOLDER: goes on with a run for some steps on batches drawn here, which
// FOLDER/batches.bin gets (rows, then log weights where there are some), the losses in FOLDER/losses.bin, and
// the parameters after them in FOLDER/parameters.bin. Prints rows, negatives, bits, whether there are
// weights, and the names.
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>

#include "ort_ed/energy_model.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/export_model.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/setup/make_learner.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

constexpr int64_t kRows = 16;

// A twentieth of a row's bits flip.
ContrastiveBatch DrawBatch(const BatchShape& shape, int64_t dimension, std::mt19937& random) {
  ContrastiveBatch batch(kRows, shape.negatives, dimension, shape.weighted);
  std::bernoulli_distribution bit(0.3), flip(0.05);
  std::normal_distribution<float> weight;
  for (int64_t i = 0; i < kRows; ++i) {
    const auto row = batch.Positive(i), others = batch.Negatives(i);
    for (auto& value : row) value = bit(random);
    for (size_t k = 0; k < others.size(); ++k) others[k] = row[k % row.size()] ^ flip(random);
    for (float& value : batch.LogWeights(i)) value = weight(random);
  }
  return batch;
}

template <typename T>
void Write(std::ostream& file, std::span<const T> values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

void Run(const std::string& run, int64_t steps, const std::string& folder) {
  Observer silent;
  const Checkpoint checkpoint = ReadCheckpointOf(run, std::nullopt, silent);
  TrainOptions options;
  ReadRunOptions(run).ApplyTo(options);
  const RunSetup setup = OpenWithoutData(options, checkpoint);
  const EnergyContract contract = CheckContract(setup.model, run);
  Learner learner(TrainedNetwork(setup, contract), MakeLearnerOptions(setup), setup.shape());
  learner.WriteState(checkpoint.SelectTensors("energy"));
  std::ofstream batches(folder + "/batches.bin"), losses(folder + "/losses.bin"),
      parameters(folder + "/parameters.bin");
  std::mt19937 random(1);
  for (int64_t step = 1; step <= steps; ++step) {
    const ContrastiveBatch batch = DrawBatch(setup.shape(), contract.dimension, random);
    const double loss = learner.Step(batch, options.optimizer.learning_rate, checkpoint.step + step).loss;
    Write<uint8_t>(batches, batch.rows);
    Write<float>(batches, batch.log_weights);
    Write<double>(losses, {&loss, 1});
  }
  std::cout << kRows << ' ' << setup.shape().negatives << ' ' << contract.dimension << ' '
            << setup.shape().weighted;
  for (const StateTensor& tensor : learner.ReadState()) {
    if (tensor.kind != "parameters") continue;
    std::cout << ' ' << tensor.parameter;
    Write<float>(parameters, tensor.values);
  }
  std::cout << '\n';
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    ort_ed::Run(argv[1], std::stoll(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
