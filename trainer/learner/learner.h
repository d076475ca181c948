#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"
#include "trainer/learner/training_spec.h"
#include "trainer/negatives/contrastive_batch.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

struct ContrastiveLoss {
  double loss = 0;             // the energy discrepancy, -log M included
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

// A named piece of the training state: kind is "parameters", "average", "first_moment", ... (StateNames() and
// kSupportKind of training_spec.h), parameter the initialiser of the energy model it
// belongs to.
struct StateTensor {
  std::string kind;
  std::string parameter;
  std::vector<int64_t> shape;
  std::vector<float> values;

  int64_t ElementCount() const;  // by its shape
};

struct LearnerOptions {
  Device device;
  int threads = 0;          // 0: all cores
  int64_t micro_batch = 0;  // groups evaluated at once; 0: the whole batch
  bool cpu_kernels = true;  // our own kernels (trainer/kernels) where the device is the CPU
};

// The optimiser step of an energy model. State and gradients live on the device, bound to the sessions'
// inputs and outputs: nothing is copied but the batch on its way in and a few numbers on their way out. Small
// models take a step in one run, with two sets of buffers that swap; large ones and micro-batches change
// their state where it lies. Not thread-safe. All members throw ort_ed::Error.
class Learner {
 public:
  // The state starts with the parameters of the model and zero moments.
  Learner(const onnx::ModelProto& energy_model, const TrainingSpec& spec, const LearnerOptions& options);
  ~Learner();
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;

  int64_t dimension() const;
  int64_t parameter_count() const;

  // One step; `step` counts from 1 (Adam's bias correction). If anything in the result is not finite the step
  // is not taken: the state remains as it was before (but if it is only the new parameters that are beyond
  // float's range, a large model's state has them). With micro-batches the mathematics is the same; results
  // differ by rounding.
  StepResult Step(const ContrastiveBatch& batch, double learning_rate, int64_t step);

  // The loss without a step, with the moving average of the parameters if `averaged` (and if there is one).
  ContrastiveLoss Evaluate(const ContrastiveBatch& batch, bool averaged = false);

  // What there is of state, without its values; and the values of one of these.
  std::vector<StateTensor> DescribeState() const;
  std::vector<float> ReadValues(const StateTensor& tensor);

  // The whole state, for checkpoints; WriteState() takes what ReadState() gave, in any order, and throws
  // kInvalidArgument, naming the tensor, where pieces are missing, unknown or of another shape.
  std::vector<StateTensor> ReadState();
  void WriteState(std::span<const StateTensor> state);

  // Puts the trained parameters, or their moving average if `averaged` (and if there is one), into a copy of
  // the energy model that this object was made from.
  void Export(onnx::ModelProto& energy_model, bool averaged);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ort_ed
