#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"
#include "ort_ed/energy_function.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/learner/learner_options.h"
#include "trainer/learner/state_tensor.h"
#include "trainer/negatives/contrastive_batch.h"

namespace ort_ed {

struct ContrastiveLoss {
  double loss = 0;             // of an energy discrepancy -log M included
  double energy_positive = 0;  // mean
  double energy_negative = 0;  // mean
};

struct StepResult : ContrastiveLoss {
  double gradient_norm = 0;   // before clipping
  double parameter_norm = 0;  // after the step
  bool finite() const;
};

// Makes the average zero where the parameter itself is: an l1 penalty leaves zeros, which an average only
// comes close to.
void KeepZeros(std::span<const float> parameters, std::span<float> average);

// A network, what it minimises and its optimiser, with their state on a device: the optimiser step. State and
// gradients live on the device, bound to the sessions' inputs and outputs: nothing is copied but the batch on
// its way in and a few numbers on their way out. Small models take a step in one run, with two sets of
// buffers that swap; large ones and micro-batches change their state where it lies. Not thread-safe. All
// members throw ort_ed::Error.
class Learner {
 public:
  // The state starts with the parameters of the network and zero moments. The network is differentiated here,
  // once.
  Learner(PreparedModel network, const LearnerOptions& options, const BatchShape& batch);
  ~Learner();
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;

  int64_t dimension() const;
  int64_t parameter_count() const;
  // "Mod (2), OneHot": what the device leaves to the CPU in every step; empty: nothing.
  const std::string& operators_on_cpu() const;

  // One step; `step` counts from 1 (Adam's bias correction). If anything in the result is not finite the step
  // is not taken: the state remains as it was before (but if it is only the new parameters that are beyond
  // float's range, a large model's state has them). With micro-batches and shards the mathematics is the
  // same; results differ by rounding. Of several processes each gives at least the groups of its shards, and
  // all get the same result.
  StepResult Step(const ContrastiveBatch& batch, double learning_rate, int64_t step);

  // The loss without a step, with the moving average of the parameters if `averaged` (and if there is one).
  ContrastiveLoss Evaluate(const ContrastiveBatch& batch, bool averaged = false);

  // What models are compared by: the loss of LearnerOptions::validation, with the moving average.
  ContrastiveLoss Validate(const ContrastiveBatch& batch);

  // The energy of the network with its present parameters, for samplers; with dU/dx if `gradient`, which is
  // one more differentiation, once. Good until the next Step() or WriteState(), and no longer than this
  // object. Where the graph is a polynomial of degree 2 it is a QuadraticEnergy, of an RBM it says so. Throws
  // kBadModel where the model cannot be differentiated by its input.
  std::shared_ptr<const EnergyFunction> CurrentEnergy(bool gradient = false);

  // Energies of rows of 0 and 1, with the moving average of the parameters if `averaged` (and if there is
  // one).
  void Energies(std::span<const float> states, std::span<float> energies, bool averaged);

  // LearnerOptions::tensor of the network with its present parameters, for states [rows, dimension()]: as
  // many values for each row.
  void CurrentTensor(std::span<const float> states, std::span<float> values);

  // What there is of state, without its values; and the values of one of these.
  std::vector<StateTensor> DescribeState() const;
  std::vector<float> ReadValues(const StateTensor& tensor);

  // The whole state, for checkpoints; WriteState() takes what ReadState() gave, in any order, and throws
  // kInvalidArgument, naming the tensor, where pieces are missing, unknown or of another shape.
  std::vector<StateTensor> ReadState();
  void WriteState(std::span<const StateTensor> state);

  // Puts the trained parameters, or their moving average if `averaged` (and if there is one), into a copy of
  // the network that this object was made from.
  void Export(onnx::ModelProto& network, bool averaged);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ort_ed
