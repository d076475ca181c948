#include "trainer/learner/step_graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/objective/energy_discrepancy.h"
#include "trainer/optimizer/optimizer.h"

namespace ort_ed {
namespace {

using step_tensor::Next;
using step_tensor::StateTensorName;

constexpr char kPrefix[] = "ort_ed/";
constexpr char kModelName[] = "the model";

[[noreturn]] void BadModel(const std::string& message) { throw Error(ErrorCode::kBadModel, message); }

// Means and variances that BatchNormalization takes from its data elsewhere: a gradient step may well make a
// variance negative.
std::set<std::string> Statistics(const onnx::ModelProto& model) {
  std::set<std::string> statistics, others;
  for (const auto& node : model.graph().node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      const bool statistic = node.op_type() == "BatchNormalization" && i >= 3;
      (statistic ? statistics : others).insert(node.input(i));
    }
  }
  for (const std::string& name : others) statistics.erase(name);
  return statistics;
}

onnx::TensorProto& Initializer(onnx::ModelProto& model, const std::string& name) {
  if (onnx::TensorProto* tensor = FindInitialiser(model, name)) return *tensor;
  throw Error(ErrorCode::kInvalidArgument, "the model has no parameter '" + name + "'");
}

const onnx::TensorProto& Initializer(const onnx::ModelProto& model, const std::string& name) {
  return Initializer(const_cast<onnx::ModelProto&>(model), name);
}

int64_t TotalSize(const std::vector<ParameterSlot>& slots) {
  return slots.empty() ? 0 : slots.back().offset + slots.back().size;
}

// The model under construction, and the tensors that its parts hand to one another.
class GraphAssembly {
 public:
  GraphAssembly(const onnx::ModelProto& energy_model, const TrainingSpec& spec, StepGraphKind kind,
                std::vector<ParameterSlot> slots)
      : spec_(spec),
        slots_(std::move(slots)),
        flat_size_(kind == StepGraphKind::kStep ? TotalSize(slots_) : kAnyLength),
        contract_(CheckContract(energy_model, kModelName)),
        model_(FrameOf(energy_model)),
        builder_(model_, kPrefix) {}

  // The energy network on `rows`, then the loss of its energies.
  EdLoss AddLoss(const onnx::ModelProto& energy_model) {
    EmitEnergyInputs();
    for (const auto& node : energy_model.graph().node()) *builder_.graph().add_node() = node;
    Value log_weights{&builder_, ""};
    if (spec_.loss.weighted)
      log_weights = FloatInput(step_tensor::kLogWeights, {-1, 1 + spec_.loss.negatives});
    return EmitEdLoss(spec_.loss, builder_.Existing(contract_.output), log_weights, Control()[0]);
  }

  // By differentiation of the energies with c as weights; in the order of the slots.
  std::vector<Value> AddGradients(const EdLoss& loss) {
    DifferentiateRequest request{contract_.output, loss.energy_weights.name, {}};
    for (const ParameterSlot& slot : slots_) request.with_respect_to.push_back(slot.name);
    const auto names = Differentiate(builder_, request);
    std::vector<Value> gradients;
    for (const ParameterSlot& slot : slots_) gradients.push_back(builder_.Existing(names.at(slot.name)));
    return gradients;
  }

  void AddStep(const EdLoss& loss) {
    std::vector<Value> pieces;
    for (const Value& gradient : AddGradients(loss))
      pieces.push_back(Reshape(gradient, std::vector<int64_t>{-1}));
    const Value gradient = builder_.Node("Concat", pieces, {{"axis", int64_t{0}}});
    const OptimizerNodes nodes =
        EmitOptimizer(spec_.optimizer, State(), Kept(gradient), OptimizerControl(), AllPenalties());
    OutputState(nodes.next_state);
    FloatOutput(Op("Concat", {loss.losses, nodes.norms}, {{"axis", int64_t{0}}}), step_tensor::kReport, {5});
  }

  // Renamed, so that they are computed where they shall be. Where parameters have one gradient tensor in
  // common, the others copy it.
  void AddGradientOutputs(const EdLoss& loss) {
    std::map<std::string, Value> renamed;
    const std::vector<Value> gradients = AddGradients(loss);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::string name = step_tensor::GradientName(slots_[i].name);
      const auto first = renamed.find(gradients[i].name);
      const Value output =
          first == renamed.end() ? builder_.Renamed(gradients[i], name) : builder_.Named(first->second, name);
      renamed.try_emplace(gradients[i].name, output);
      builder_.Output(output, slots_[i].shape);
    }
    FloatOutput(loss.losses, step_tensor::kLosses, {3});
  }

  void AddAccumulation(const EdLoss& loss) {
    using step_tensor::GradientName, step_tensor::kLosses;
    const std::vector<Value> gradients = AddGradients(loss);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::string name = GradientName(slots_[i].name);
      FloatOutput(FloatInput(name, slots_[i].shape) + gradients[i], Next(name), slots_[i].shape);
    }
    FloatOutput(FloatInput(kLosses, {3}) + loss.losses, Next(kLosses), {3});
  }

  void AddNorm() {
    const Value gradient = EmitPenalisedGradient(spec_.optimizer, State()[0],
                                                 Kept(Flat(step_tensor::kGradient)), AllPenalties());
    OutputSquares(gradient);
  }

  void AddUpdate() {
    const Penalties penalties = AllPenalties();
    const Value gradient =
        EmitPenalisedGradient(spec_.optimizer, State()[0], Kept(Flat(step_tensor::kGradient)), penalties);
    const std::vector<Value> next =
        EmitUpdate(spec_.optimizer, State(), gradient * FloatInput(step_tensor::kClip, {1}),
                   OptimizerControl(), penalties);
    OutputSquares(next[0]);
    OutputState(next);
  }

  // A flat vector that is an input of the graph, made where it is first asked for.
  Value Flat(const std::string& name) { return FloatInput(name, {flat_size_}); }

  Value FloatInput(const std::string& name, std::vector<int64_t> shape) {
    if (inputs_.insert(name).second) builder_.Input(name, shape);
    return builder_.Existing(name);
  }

  void FloatOutput(const Value& value, const std::string& name, const std::vector<int64_t>& shape) {
    builder_.Output(builder_.Renamed(value, name), shape);
  }

  StepGraph Finish() { return {std::move(model_), std::move(slots_), contract_.dimension}; }

 private:
  // Everything of the energy model but nodes, inputs, outputs and the initialisers that are trained.
  onnx::ModelProto FrameOf(const onnx::ModelProto& energy_model) const {
    onnx::ModelProto frame;
    std::set<std::string> replaced = {contract_.input};
    for (const ParameterSlot& slot : slots_) replaced.insert(slot.name);
    frame.set_ir_version(std::max<int64_t>(energy_model.ir_version(), GraphBuilder::kIrVersion));
    *frame.mutable_opset_import() = energy_model.opset_import();
    *frame.mutable_functions() = energy_model.functions();
    frame.mutable_graph()->set_name("training");
    for (const auto& tensor : energy_model.graph().initializer()) {
      if (!replaced.count(tensor.name())) *frame.mutable_graph()->add_initializer() = tensor;
    }
    return frame;
  }

  void EmitEnergyInputs() {
    builder_.Input(step_tensor::kRows, std::vector<int64_t>{-1, contract_.dimension},
                   onnx::TensorProto::UINT8);
    const Value x =
        Op("Cast", {builder_.Existing(step_tensor::kRows)}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    builder_.Renamed(x, contract_.input);
    for (const ParameterSlot& slot : slots_) builder_.Input(slot.name, slot.shape);
  }

  const std::vector<Value>& Control() {
    if (control_.empty()) {
      control_ = EmitSplit(FloatInput(step_tensor::kControl, {kControlSize}), 0,
                           std::vector<int64_t>(kControlSize, 1));
    }
    return control_;
  }

  ControlValues OptimizerControl() {
    const std::vector<Value>& control = Control();
    return {control[1], control[2], control[3], control[4], control[5]};
  }

  std::vector<Value> State() {
    std::vector<Value> state;
    for (const std::string& kind : StateNames(spec_.optimizer)) state.push_back(Flat(StateTensorName(kind)));
    return state;
  }

  void OutputState(const std::vector<Value>& next) {
    const std::vector<std::string> kinds = StateNames(spec_.optimizer);
    for (size_t i = 0; i < kinds.size(); ++i)
      FloatOutput(next[i], Next(StateTensorName(kinds[i])), {flat_size_});
  }

  void OutputSquares(const Value& vector) {
    FloatOutput(Reduce("ReduceSumSquare", vector, std::vector<int64_t>{0}, true), step_tensor::kSquares, {1});
  }

  // Enough to keep zeros: without a gradient nothing moves them, neither moments nor decay nor average.
  Value Kept(const Value& gradient) {
    return spec_.fixed_zeros.empty() ? gradient : gradient * Flat(StateTensorName(kSupportKind));
  }

  Penalties AllPenalties() {
    const OptimizerSpec& o = spec_.optimizer;
    return {Penalty(o.weight_decay, o.weight_decay_parameters, "weight decay", step_tensor::kWeightDecay),
            Penalty(o.l1, o.l1_parameters, "l1 penalty", step_tensor::kL1)};
  }

  Value Penalty(double strength, const std::vector<std::string>& patterns, const std::string& what,
                const char* name) {
    if (strength == 0) return {&builder_, ""};
    const std::vector<float> strengths = PenaltyVector(strength, patterns, what, slots_);
    if (strengths.empty()) return builder_.Scalar(static_cast<float>(strength));
    return flat_size_ == kAnyLength ? Flat(name) : builder_.Constant(std::vector{flat_size_}, strengths);
  }

  static constexpr int64_t kAnyLength = -1;

  const TrainingSpec& spec_;
  std::vector<ParameterSlot> slots_;
  int64_t flat_size_;
  EnergyContract contract_;
  onnx::ModelProto model_;
  GraphBuilder builder_;
  std::set<std::string> inputs_;
  std::vector<Value> control_;
};

}  // namespace

std::vector<std::string> ParameterNames(const onnx::ModelProto& model) {
  const std::set<std::string> statistics = Statistics(model);
  std::vector<std::string> names;
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.data_type() == onnx::TensorProto::FLOAT && ElementCount(tensor) > 0 &&
        !statistics.contains(tensor.name()))
      names.push_back(tensor.name());
  }
  return names;
}

std::vector<std::string> ListNames(const std::vector<ParameterSlot>& slots) {
  std::vector<std::string> names;
  for (const ParameterSlot& slot : slots) names.push_back(slot.name);
  return names;
}

std::vector<ParameterSlot> TrainedParameters(const onnx::ModelProto& energy_model,
                                             const std::vector<std::string>& frozen) {
  const EnergyContract contract = CheckContract(energy_model, kModelName);
  const std::vector<std::string> names = ParameterNames(energy_model);
  const std::vector<bool> is_frozen = Select(names, frozen, "frozen parameters");
  DifferentiateRequest request{contract.output, "", {}};
  for (size_t i = 0; i < names.size(); ++i) {
    if (!is_frozen[i]) request.with_respect_to.push_back(names[i]);
  }
  onnx::ModelProto scratch = energy_model;
  PrepareForDifferentiation(scratch);
  GraphBuilder builder(scratch, kPrefix);
  const auto gradients = Differentiate(builder, request);

  std::vector<ParameterSlot> slots;
  for (const std::string& name : request.with_respect_to) {
    if (gradients.at(name).empty()) continue;
    const onnx::TensorProto& tensor = Initializer(energy_model, name);
    slots.push_back(
        {name, {tensor.dims().begin(), tensor.dims().end()}, TotalSize(slots), ElementCount(tensor)});
  }
  if (slots.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "there is nothing to train: no float initialiser of the model that is not frozen influences "
                "its energy");
  }
  return slots;
}

StepGraph BuildStepGraph(const onnx::ModelProto& energy_model, const TrainingSpec& spec, StepGraphKind kind) {
  return BuildStepGraph(energy_model, spec, kind, TrainedParameters(energy_model, spec.frozen));
}

StepGraph BuildStepGraph(const onnx::ModelProto& users_model, const TrainingSpec& spec, StepGraphKind kind,
                         std::vector<ParameterSlot> slots) {
  Validate(spec);
  onnx::ModelProto energy_model = users_model;
  PrepareForDifferentiation(energy_model);
  GraphAssembly assembly(energy_model, spec, kind, std::move(slots));
  switch (kind) {
    case StepGraphKind::kStep:
      assembly.AddStep(assembly.AddLoss(energy_model));
      break;
    case StepGraphKind::kGradient:
      assembly.AddGradientOutputs(assembly.AddLoss(energy_model));
      break;
    case StepGraphKind::kAccumulate:
      assembly.AddAccumulation(assembly.AddLoss(energy_model));
      break;
    case StepGraphKind::kEvaluate:
      assembly.FloatOutput(assembly.AddLoss(energy_model).losses, step_tensor::kLosses, {3});
      break;
    case StepGraphKind::kNorm:
      assembly.AddNorm();
      break;
    case StepGraphKind::kApply:
      assembly.AddUpdate();
      break;
  }
  return assembly.Finish();
}

std::vector<float> PenaltyVector(double strength, const std::vector<std::string>& patterns,
                                 const std::string& what, const std::vector<ParameterSlot>& slots) {
  if (strength == 0) return {};
  const std::vector<bool> selected = Select(ListNames(slots), patterns, what);
  if (std::ranges::all_of(selected, std::identity{})) return {};
  std::vector<float> strengths(static_cast<size_t>(TotalSize(slots)));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (selected[i])
      std::fill_n(strengths.begin() + slots[i].offset, slots[i].size, static_cast<float>(strength));
  }
  return strengths;
}

std::vector<float> MakeSupport(const std::vector<float>& parameters, const std::vector<ParameterSlot>& slots,
                               const std::vector<std::string>& fixed_zeros) {
  const std::vector<bool> selected = Select(ListNames(slots), fixed_zeros, "parameters with fixed zeros");
  std::vector<float> support(parameters.size(), 1);
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto end = static_cast<size_t>(slots[i].offset + slots[i].size);
    for (auto k = static_cast<size_t>(slots[i].offset); k < end; ++k)
      if (selected[i] && parameters[k] == 0) support[k] = 0;
  }
  return support;
}

std::vector<float> ControlVector(const OptimizerSpec& spec, double learning_rate, int64_t step,
                                 int64_t groups) {
  const StepControl control = MakeControl(spec, learning_rate, step);
  return {static_cast<float>(1.0 / static_cast<double>(groups)),
          static_cast<float>(control.learning_rate),
          static_cast<float>(control.step_size),
          static_cast<float>(control.epsilon),
          static_cast<float>(control.threshold),
          static_cast<float>(control.average)};
}

std::vector<float> FlatParameters(const onnx::ModelProto& model, const std::vector<ParameterSlot>& slots) {
  std::vector<float> values(static_cast<size_t>(TotalSize(slots)));
  for (const ParameterSlot& slot : slots) {
    const onnx::TensorProto& tensor = Initializer(model, slot.name);
    float* const target = values.data() + slot.offset;
    if (tensor.raw_data().size() == slot.size * sizeof(float)) {
      std::memcpy(target, tensor.raw_data().data(), tensor.raw_data().size());
    } else if (tensor.float_data_size() == slot.size) {
      std::ranges::copy(tensor.float_data(), target);
    } else {
      BadModel("the parameter '" + slot.name + "' does not hold the " + std::to_string(slot.size) +
               " values that its shape promises");
    }
  }
  return values;
}

void SetParameters(onnx::ModelProto& model, const std::vector<ParameterSlot>& slots,
                   const std::vector<float>& values) {
  for (const ParameterSlot& slot : slots) {
    std::ranges::copy(std::span(values).subspan(slot.offset, slot.size),
                      MutableParameter(model, slot).begin());
  }
}

std::span<float> MutableParameter(onnx::ModelProto& model, const ParameterSlot& slot) {
  onnx::TensorProto& tensor = Initializer(model, slot.name);
  if (ElementCount(tensor) != slot.size)
    BadModel("the parameter '" + slot.name + "' has another shape than the trained one");
  tensor.clear_float_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  const auto size = static_cast<size_t>(slot.size);
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.resize(size * sizeof(float));
  return {reinterpret_cast<float*>(bytes.data()), size};
}

void ClearParameters(onnx::ModelProto& model, const std::vector<ParameterSlot>& slots) {
  for (const ParameterSlot& slot : slots) FreeValues(Initializer(model, slot.name));
}

}  // namespace ort_ed
