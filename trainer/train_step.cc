#include "trainer/train_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "trainer/autodiff/prepare_model.h"
#include "trainer/kernels/fuse_elementwise.h"
#include "trainer/kernels/use_cpu_kernels.h"
#include "trainer/train_session.h"
#include "trainer/training_graph.h"

namespace ort_ed {
namespace {

using training_tensor::Next;
using training_tensor::StateTensorName;
using Losses = std::array<float, 3>;
using Report = std::array<float, 5>;

// A run of groups of a batch.
struct Groups {
  int64_t first = 0;
  int64_t count = 0;
};

std::vector<Groups> Cut(int64_t groups, int64_t micro_batch) {
  if (micro_batch == 0) micro_batch = groups;
  std::vector<Groups> parts;
  for (int64_t first = 0; first < groups; first += micro_batch) {
    parts.push_back({first, std::min(micro_batch, groups - first)});
  }
  return parts;
}

template <size_t N>
Ort::Value HostArray(std::array<float, N>& values) {
  return HostTensor(values.data(), {static_cast<int64_t>(N)});
}

}  // namespace

bool StepResult::finite() const {
  return std::isfinite(loss) && std::isfinite(energy_positive) && std::isfinite(energy_negative) &&
         std::isfinite(gradient_norm) && std::isfinite(parameter_norm);
}

struct TrainStep::Impl {
  Impl(const onnx::ModelProto& model, const TrainingSpec& training_spec, const TrainStepOptions& step_options)
      : energy_model(model),
        spec(training_spec),
        options(step_options),
        memory(options.device),
        kinds(StateNames(spec.optimizer)),
        changing_kinds(kinds.size()) {
    if (!spec.fixed_zeros.empty()) kinds.push_back(kSupportKind);
    if (options.micro_batch < 0) {
      throw Error(ErrorCode::kInvalidArgument, "the size of micro-batches must not be negative");
    }
    PrepareForDifferentiation(energy_model);
    if (HasCpuKernels()) UseCpuKernels(energy_model);
    const TrainingGraph graph =
        Open(options.micro_batch > 0 ? TrainingGraphKind::kAccumulate : TrainingGraphKind::kStep);
    slots = graph.parameters;
    dimension = graph.dimension;
    const std::vector<float> parameters = FlatParameters(energy_model, slots);
    std::vector<std::vector<float>> initial;
    for (const std::string& kind : kinds) initial.push_back(InitialState(kind, parameters));
    SetState(initial);
  }

  std::vector<float> InitialState(const std::string& kind, const std::vector<float>& parameters) const {
    if (kind == "parameters" || kind == "average") return parameters;
    if (kind == kSupportKind) return SupportOf(parameters, slots, spec.fixed_zeros);
    return std::vector<float>(parameters.size());
  }

  bool HasCpuKernels() const { return options.cpu_kernels && options.device.provider == "cpu"; }

  int64_t FlatSize() const { return slots.back().offset + slots.back().size; }

  TrainingGraph Open(TrainingGraphKind kind) {
    TrainingGraph graph = BuildTrainingGraph(energy_model, spec, kind);
    if (HasCpuKernels()) FuseElementwise(graph.model);
    sessions.try_emplace(kind, graph.model, options.device, options.threads);
    return graph;
  }

  // Sessions are opened when they are first needed.
  TrainSession& Session(TrainingGraphKind kind) {
    if (!sessions.count(kind)) Open(kind);
    return sessions.at(kind);
  }

  void SetState(const std::vector<std::vector<float>>& vectors) {
    state.clear();
    next_state.clear();
    for (const auto& vector : vectors) {
      state.push_back(memory.Vector(vector));
      if (next_state.size() < changing_kinds) next_state.push_back(memory.Vector(vector));
    }
  }

  void CheckBatch(const ContrastiveBatch& batch) const {
    const auto require = [](bool holds, const std::string& what) {
      if (!holds) throw Error(ErrorCode::kInvalidArgument, "the batch does not fit the training: " + what);
    };
    require(batch.positives > 0, "it is empty");
    require(batch.dimension == dimension, "its rows have " + std::to_string(batch.dimension) +
                                              " values, the model takes " + std::to_string(dimension));
    require(batch.negatives == spec.loss.negatives, "it has " + std::to_string(batch.negatives) +
                                                        " negatives for each positive instead of " +
                                                        std::to_string(spec.loss.negatives));
    require(batch.log_weights.empty() != spec.loss.weighted,
            spec.loss.weighted ? "the weights of the negatives are missing" : "it has weights");
  }

  void BindBatch(TrainSession& session, const ContrastiveBatch& batch, Groups groups) {
    const int64_t group_rows = 1 + batch.negatives;
    auto* const rows = const_cast<uint8_t*>(batch.rows.data());  // ONNX Runtime does not write to inputs
    session.BindInput(training_tensor::kRows, HostTensor(rows + groups.first * group_rows * dimension,
                                                         {groups.count * group_rows, dimension}));
    if (!spec.loss.weighted) return;
    auto* const weights = const_cast<float*>(batch.log_weights.data());
    session.BindInput(training_tensor::kLogWeights,
                      HostTensor(weights + groups.first * group_rows, {groups.count, group_rows}));
  }

  void BindControl(TrainSession& session, std::vector<float>& control) {
    session.BindInput(training_tensor::kControl, HostTensor(control.data(), {kControlSize}));
  }

  void BindState(TrainSession& session, Report& report) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      session.BindInput(StateTensorName(kinds[i]), state[i]);
      if (i < changing_kinds) session.BindOutput(Next(StateTensorName(kinds[i])), next_state[i]);
    }
    session.BindOutput(training_tensor::kReport, HostArray(report));
  }

  void RunWhole(const ContrastiveBatch& batch, std::vector<float>& control, Report& report) {
    TrainSession& session = Session(TrainingGraphKind::kStep);
    BindBatch(session, batch, {0, batch.positives});
    BindControl(session, control);
    BindState(session, report);
    session.Run();
  }

  void RunInParts(const ContrastiveBatch& batch, std::vector<float>& control, Report& report) {
    if (sums.empty()) {
      const std::vector<float> gradient(static_cast<size_t>(FlatSize())), losses(3);
      for (int i = 0; i < 3; ++i) sums.push_back({memory.Vector(gradient), memory.Vector(losses)});
    }
    // sums[0] stays zero; what was added up alternates between the other two.
    size_t sum = 0;
    TrainSession& accumulate = Session(TrainingGraphKind::kAccumulate);
    for (const Groups& groups : Cut(batch.positives, options.micro_batch)) {
      const size_t next = sum == 1 ? 2 : 1;
      BindBatch(accumulate, batch, groups);
      BindControl(accumulate, control);
      accumulate.BindInput(StateTensorName("parameters"), state[0]);
      BindSums(accumulate, sums[sum]);
      accumulate.BindOutput(Next(training_tensor::kGradient), sums[next].gradient);
      accumulate.BindOutput(Next(training_tensor::kLosses), sums[next].losses);
      accumulate.Run();
      sum = next;
    }
    TrainSession& apply = Session(TrainingGraphKind::kApply);
    BindSums(apply, sums[sum]);
    BindControl(apply, control);
    BindState(apply, report);
    apply.Run();
  }

  // What the micro-batches of a batch add up to.
  struct Sums {
    Ort::Value gradient, losses;
  };

  static void BindSums(TrainSession& session, const Sums& added) {
    session.BindInput(training_tensor::kGradient, added.gradient);
    session.BindInput(training_tensor::kLosses, added.losses);
  }

  // The state vector `kind`, or the parameters if there is none.
  const Ort::Value& Vector(const std::string& kind) const {
    const auto found = std::ranges::find(kinds, kind);
    return state[found == kinds.end() ? 0 : static_cast<size_t>(found - kinds.begin())];
  }

  onnx::ModelProto energy_model;
  TrainingSpec spec;
  TrainStepOptions options;
  DeviceMemoryPool memory;
  std::vector<std::string> kinds;  // of the state vectors
  size_t changing_kinds;           // of which the first so many change from step to step
  std::vector<ParameterSlot> slots;
  int64_t dimension = 0;
  std::map<TrainingGraphKind, TrainSession> sessions;
  std::vector<Ort::Value> state, next_state;  // in the order of kinds, the latter without the constant ones
  std::vector<Sums> sums;                     // for micro-batches
};

TrainStep::TrainStep(const onnx::ModelProto& energy_model, const TrainingSpec& spec,
                     const TrainStepOptions& options)
    : impl_(std::make_unique<Impl>(energy_model, spec, options)) {}
TrainStep::~TrainStep() = default;
TrainStep::TrainStep(TrainStep&&) noexcept = default;
TrainStep& TrainStep::operator=(TrainStep&&) noexcept = default;

int64_t TrainStep::dimension() const { return impl_->dimension; }
int64_t TrainStep::parameter_count() const { return impl_->FlatSize(); }

StepResult TrainStep::Step(const ContrastiveBatch& batch, double learning_rate, int64_t step) {
  impl_->CheckBatch(batch);
  std::vector<float> control = ControlVector(impl_->spec.optimizer, learning_rate, step, batch.positives);
  Report report{};
  if (impl_->options.micro_batch > 0) {
    impl_->RunInParts(batch, control, report);
  } else {
    impl_->RunWhole(batch, control, report);
  }
  const StepResult result{{report[0], report[1], report[2]}, report[3], report[4]};
  if (result.finite()) std::ranges::swap_ranges(impl_->next_state, impl_->state);
  return result;
}

ContrastiveLoss TrainStep::Evaluate(const ContrastiveBatch& batch, bool averaged) {
  impl_->CheckBatch(batch);
  std::vector<float> control = ControlVector(impl_->spec.optimizer, 0, 1, batch.positives);
  TrainSession& session = impl_->Session(TrainingGraphKind::kEvaluate);
  ContrastiveLoss total;
  for (const Groups& groups : Cut(batch.positives, impl_->options.micro_batch)) {
    Losses losses{};
    impl_->BindBatch(session, batch, groups);
    impl_->BindControl(session, control);
    session.BindInput(StateTensorName("parameters"), impl_->Vector(averaged ? "average" : "parameters"));
    session.BindOutput(training_tensor::kLosses, HostArray(losses));
    session.Run();
    total.loss += losses[0];
    total.energy_positive += losses[1];
    total.energy_negative += losses[2];
  }
  return total;
}

std::vector<StateTensor> TrainStep::ReadState() {
  std::vector<StateTensor> tensors;
  for (size_t i = 0; i < impl_->kinds.size(); ++i) {
    const std::vector<float> values = impl_->memory.Read(impl_->state[i]);
    for (const ParameterSlot& slot : impl_->slots) {
      const auto first = values.begin() + slot.offset;
      tensors.push_back({impl_->kinds[i], slot.name, slot.shape, {first, first + slot.size}});
    }
  }
  return tensors;
}

void TrainStep::WriteState(std::span<const StateTensor> state) {
  std::map<std::pair<std::string, std::string>, const StateTensor*> pieces;
  for (const StateTensor& tensor : state) pieces[{tensor.kind, tensor.parameter}] = &tensor;
  std::vector<std::vector<float>> vectors;
  for (const std::string& kind : impl_->kinds) {
    std::vector<float>& vector = vectors.emplace_back(static_cast<size_t>(impl_->FlatSize()));
    for (const ParameterSlot& slot : impl_->slots) {
      const std::string name = kind + " of '" + slot.name + "'";
      const auto found = pieces.find({kind, slot.name});
      if (found == pieces.end()) {
        throw Error(ErrorCode::kInvalidArgument, "the training state lacks the " + name);
      }
      const StateTensor& tensor = *found->second;
      if (tensor.shape != slot.shape || tensor.values.size() != static_cast<size_t>(slot.size)) {
        throw Error(ErrorCode::kInvalidArgument,
                    "the " + name + " in the training state has another shape than the model");
      }
      std::ranges::copy(tensor.values, vector.begin() + slot.offset);
      pieces.erase(found);
    }
  }
  if (!pieces.empty()) {
    const auto& [kind, parameter] = pieces.begin()->first;
    throw Error(ErrorCode::kInvalidArgument, "the training state holds the " + kind + " of '" + parameter +
                                                 "', which this training does not know");
  }
  impl_->SetState(vectors);
}

void TrainStep::Export(onnx::ModelProto& energy_model, bool averaged) {
  SetParameters(energy_model, impl_->slots,
                impl_->memory.Read(impl_->Vector(averaged ? "average" : "parameters")));
}

}  // namespace ort_ed
