#include "trainer/training_graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "models/graph_builder.h"
#include "ort_ed/error.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/autodiff/prepare_model.h"
#include "trainer/ed_loss.h"
#include "trainer/optimizer.h"

namespace ort_ed {
namespace {

using training_tensor::Next;
using training_tensor::StateTensorName;

constexpr char kPrefix[] = "ort_ed/";

[[noreturn]] void BadModel(const std::string& message) { throw Error(ErrorCode::kBadModel, message); }

// The names at the two ends of the energy model, and D.
struct EnergyContract {
  std::string input, output;
  int64_t dimension = 0;
};

EnergyContract ContractOf(const onnx::ModelProto& model) {
  const onnx::GraphProto& graph = model.graph();
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!initializers.count(input.name())) inputs.push_back(&input);
  }
  if (inputs.size() != 1 || graph.output_size() != 1) {
    BadModel("an energy model has one input [batch, D] and one output [batch]; this one has " +
             std::to_string(inputs.size()) + " inputs and " + std::to_string(graph.output_size()) +
             " outputs");
  }
  const auto& type = inputs[0]->type().tensor_type();
  if (type.elem_type() != onnx::TensorProto::FLOAT) {
    BadModel("the input '" + inputs[0]->name() + "' of an energy model must be float32");
  }
  if (type.shape().dim_size() != 2 || type.shape().dim(1).dim_value() < 1) {
    BadModel("the input '" + inputs[0]->name() +
             "' of an energy model must have the shape [batch, D] with a fixed D");
  }
  return {inputs[0]->name(), graph.output(0).name(), type.shape().dim(1).dim_value()};
}

int64_t ElementCount(const onnx::TensorProto& tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.dims()) count *= extent;
  return count;
}

std::vector<std::string> FloatInitializers(const onnx::ModelProto& model) {
  std::vector<std::string> names;
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.data_type() == onnx::TensorProto::FLOAT && ElementCount(tensor) > 0)
      names.push_back(tensor.name());
  }
  return names;
}

onnx::TensorProto& Initializer(onnx::ModelProto& model, const std::string& name) {
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == name) return tensor;
  }
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
  GraphAssembly(const onnx::ModelProto& energy_model, const TrainingSpec& spec,
                std::vector<ParameterSlot> slots)
      : spec_(spec),
        slots_(std::move(slots)),
        contract_(ContractOf(energy_model)),
        model_(FrameOf(energy_model)),
        builder_(model_, kPrefix) {}

  int64_t FlatSize() const { return TotalSize(slots_); }

  // The energy network on `rows`, with parameters cut out of the flat vector; then the loss of its energies.
  EdLoss AddLoss(const onnx::ModelProto& energy_model) {
    EmitEnergyInputs();
    for (const auto& node : energy_model.graph().node()) *builder_.graph().add_node() = node;
    Value log_weights{&builder_, ""};
    if (spec_.loss.weighted)
      log_weights = FloatInput(training_tensor::kLogWeights, {-1, 1 + spec_.loss.negatives});
    return EmitEdLoss(spec_.loss, builder_.Existing(contract_.output), log_weights, Control()[0]);
  }

  // One flat gradient by differentiation of the energies with c as weights.
  Value AddGradient(const EdLoss& loss) {
    DifferentiateRequest request{contract_.output, loss.energy_weights.name, {}};
    for (const ParameterSlot& slot : slots_) request.with_respect_to.push_back(slot.name);
    const auto gradients = Differentiate(builder_, request);
    std::vector<Value> pieces;
    for (const ParameterSlot& slot : slots_) {
      pieces.push_back(Reshape(builder_.Existing(gradients.at(slot.name)), std::vector<int64_t>{-1}));
    }
    return builder_.Node("Concat", pieces, {{"axis", int64_t{0}}});
  }

  void AddOptimizer(const Value& gradient, const Value& losses) {
    std::vector<Value> state;
    for (const std::string& kind : StateNames(spec_.optimizer)) state.push_back(Flat(StateTensorName(kind)));
    const std::vector<Value>& control = Control();
    const Penalties penalties = {
        PenaltyOn(spec_.optimizer.weight_decay, spec_.optimizer.weight_decay_parameters, "weight decay"),
        PenaltyOn(spec_.optimizer.l1, spec_.optimizer.l1_parameters, "l1 penalty")};
    // Enough to keep zeros: without a gradient nothing moves them, neither moments nor decay nor average.
    const Value kept = spec_.fixed_zeros.empty() ? gradient : gradient * Flat(StateTensorName(kSupportKind));
    const OptimizerNodes nodes =
        EmitOptimizer(spec_.optimizer, state, kept,
                      {control[1], control[2], control[3], control[4], control[5]}, penalties);
    for (size_t i = 0; i < state.size(); ++i)
      FloatOutput(nodes.next_state[i], Next(state[i].name), FlatSize());
    const Value report = Op("Concat", {losses, nodes.norms}, {{"axis", int64_t{0}}});
    FloatOutput(report, training_tensor::kReport, 5);
  }

  // A flat vector that is an input of the graph, made where it is first asked for.
  Value Flat(const std::string& name) { return FloatInput(name, {FlatSize()}); }

  Value FloatInput(const std::string& name, std::vector<int64_t> shape) {
    if (inputs_.insert(name).second) builder_.Input(name, shape);
    return builder_.Existing(name);
  }

  void FloatOutput(const Value& value, const std::string& name, int64_t size) {
    builder_.Output(builder_.Renamed(value, name), std::vector<int64_t>{size});
  }

  TrainingGraph Finish() { return {std::move(model_), std::move(slots_), contract_.dimension}; }

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
    builder_.Input(training_tensor::kRows, std::vector<int64_t>{-1, contract_.dimension},
                   onnx::TensorProto::UINT8);
    const Value x =
        Op("Cast", {builder_.Existing(training_tensor::kRows)}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    builder_.Renamed(x, contract_.input);
    std::vector<int64_t> sizes;
    for (const ParameterSlot& slot : slots_) sizes.push_back(slot.size);
    const std::vector<Value> pieces = EmitSplit(Flat(StateTensorName("parameters")), 0, sizes);
    for (size_t i = 0; i < slots_.size(); ++i) {
      builder_.Renamed(Reshape(pieces[i], slots_[i].shape), slots_[i].name);
    }
  }

  const std::vector<Value>& Control() {
    if (control_.empty()) {
      control_ = EmitSplit(FloatInput(training_tensor::kControl, {kControlSize}), 0,
                           std::vector<int64_t>(kControlSize, 1));
    }
    return control_;
  }

  Value PenaltyOn(double strength, const std::vector<std::string>& patterns, const std::string& what) {
    if (strength == 0) return {&builder_, ""};
    const std::vector<bool> selected = Select(NamesOf(slots_), patterns, what);
    if (std::ranges::all_of(selected, std::identity{})) return builder_.Scalar(static_cast<float>(strength));
    std::vector<float> strengths(static_cast<size_t>(FlatSize()));
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (selected[i])
        std::fill_n(strengths.begin() + slots_[i].offset, slots_[i].size, static_cast<float>(strength));
    }
    return builder_.Constant(std::vector<int64_t>{FlatSize()}, strengths);
  }

  const TrainingSpec& spec_;
  std::vector<ParameterSlot> slots_;
  EnergyContract contract_;
  onnx::ModelProto model_;
  GraphBuilder builder_;
  std::set<std::string> inputs_;
  std::vector<Value> control_;
};

}  // namespace

std::vector<std::string> NamesOf(const std::vector<ParameterSlot>& slots) {
  std::vector<std::string> names;
  for (const ParameterSlot& slot : slots) names.push_back(slot.name);
  return names;
}

std::vector<ParameterSlot> TrainedParameters(const onnx::ModelProto& energy_model,
                                             const std::vector<std::string>& frozen) {
  const EnergyContract contract = ContractOf(energy_model);
  const std::vector<std::string> names = FloatInitializers(energy_model);
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

TrainingGraph BuildTrainingGraph(const onnx::ModelProto& users_model, const TrainingSpec& spec,
                                 TrainingGraphKind kind) {
  Validate(spec);
  onnx::ModelProto energy_model = users_model;
  PrepareForDifferentiation(energy_model);
  GraphAssembly assembly(energy_model, spec, TrainedParameters(energy_model, spec.frozen));
  using training_tensor::kGradient, training_tensor::kLosses;
  if (kind == TrainingGraphKind::kApply) {
    assembly.AddOptimizer(assembly.Flat(kGradient), assembly.FloatInput(kLosses, {3}));
    return assembly.Finish();
  }
  const EdLoss loss = assembly.AddLoss(energy_model);
  switch (kind) {
    case TrainingGraphKind::kStep:
      assembly.AddOptimizer(assembly.AddGradient(loss), loss.losses);
      break;
    case TrainingGraphKind::kAccumulate:
      assembly.FloatOutput(assembly.Flat(kGradient) + assembly.AddGradient(loss), Next(kGradient),
                           assembly.FlatSize());
      assembly.FloatOutput(assembly.FloatInput(kLosses, {3}) + loss.losses, Next(kLosses), 3);
      break;
    default:
      assembly.FloatOutput(loss.losses, kLosses, 3);
  }
  return assembly.Finish();
}

std::vector<float> SupportOf(const std::vector<float>& parameters, const std::vector<ParameterSlot>& slots,
                             const std::vector<std::string>& fixed_zeros) {
  const std::vector<bool> selected = Select(NamesOf(slots), fixed_zeros, "parameters with fixed zeros");
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
  const StepControl control = ControlOf(spec, learning_rate, step);
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
    onnx::TensorProto& tensor = Initializer(model, slot.name);
    if (ElementCount(tensor) != slot.size)
      BadModel("the parameter '" + slot.name + "' has another shape than the trained one");
    tensor.clear_float_data();
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(values.data() + slot.offset, static_cast<size_t>(slot.size) * sizeof(float));
  }
}

}  // namespace ort_ed
