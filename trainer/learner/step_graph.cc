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
#include "runtime/session.h"
#include "trainer/autodiff/blind_spots.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/learner/parameter_choice.h"
#include "trainer/objective/objective.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/passes/channels_last.h"

namespace ort_ed {
namespace {

using step_tensor::Next;
using step_tensor::StateTensorName;

constexpr char kPrefix[] = "ort_ed/";

[[noreturn]] void BadModel(const std::string& message) { throw Error(ErrorCode::kBadModel, message); }

onnx::TensorProto& Initializer(onnx::ModelProto& model, const std::string& name) {
  if (onnx::TensorProto* tensor = FindInitialiser(model, name)) return *tensor;
  throw Error(ErrorCode::kInvalidArgument, "the model has no parameter '" + name + "'");
}

const onnx::TensorProto& Initializer(const onnx::ModelProto& model, const std::string& name) {
  return Initializer(const_cast<onnx::ModelProto&>(model), name);
}

}  // namespace

// The model under construction, and the tensors that its parts hand to one another.
class StepGraphs::Assembly {
 public:
  Assembly(const PreparedModel& network, const LearnerOptions& options, const BatchShape& batch,
           std::vector<ParameterSlot> slots)
      : network_(network),
        options_(options),
        batch_(batch),
        slots_(std::move(slots)),
        flat_(!HasAddresses(options.device)),
        model_(MakeFrame()),
        builder_(model_, kPrefix) {}

  const std::vector<ParameterSlot>& slots() const { return slots_; }

  // The energy network on `rows`, then the loss of its energies.
  void AddLoss(bool training) {
    EmitRows();
    EmitNetwork();
    if (training) DropUnits();
    Value log_weights{&builder_, ""};
    if (batch_.weighted) log_weights = FloatInput(step_tensor::kLogWeights, {-1, 1 + batch_.negatives});
    loss_ = MakeObjective(options_.objective)
                ->Emit({builder_.Existing(network_.contract.output), batch_.negatives, log_weights,
                        Control()[0]});
  }

  // The energy network on `states`, by itself.
  void AddEnergies() {
    EmitStates();
    EmitNetwork();
    const Value energies = builder_.Existing(network_.contract.output);
    builder_.Output(builder_.Named(Reshape(energies, std::vector<int64_t>{-1}), step_tensor::kEnergies),
                    std::vector<int64_t>{-1});
  }

  // The part of it that leads to one of its tensors.
  void AddTensor() {
    EmitStates();
    EmitNetwork();
    const std::vector<int64_t> row_by_row = {0, -1};
    builder_.Output(
        builder_.Named(Reshape(builder_.Existing(options_.tensor), row_by_row), step_tensor::kTensor),
        std::vector<int64_t>{-1, -1});
  }

  void AddSlopes() {
    const DifferentiateRequest request{network_.contract.output, "", {network_.contract.input}};
    const std::string gradient = Differentiate(builder_, request).at(network_.contract.input);
    if (gradient.empty())
      BadModel("the energy has no slope: no operator that can be differentiated leads from '" +
               network_.contract.input + "' to it");
    const Value slopes = builder_.Existing(gradient);
    builder_.Output(builder_.Named(slopes, step_tensor::kSlopes),
                    std::vector<int64_t>{-1, network_.contract.dimension});
  }

  // By differentiation of the energies with c as weights. Parameters without influence are none: they stay
  // with the network.
  void AddGradients() {
    DifferentiateRequest request{network_.contract.output, loss_.energy_weights.name, {}};
    for (const ParameterSlot& slot : slots_) request.with_respect_to.push_back(slot.name);
    const auto names = Differentiate(builder_, request);
    std::vector<ParameterSlot> influential;
    for (ParameterSlot& slot : slots_) {
      const std::string& gradient = names.at(slot.name);
      if (gradient.empty()) {
        MakeConstant(slot.name);
        continue;
      }
      slot.offset = TotalSize(influential);
      influential.push_back(std::move(slot));
      gradients_.push_back(builder_.Existing(gradient));
    }
    slots_ = std::move(influential);
  }

  onnx::ModelProto Complete(StepGraphKind kind) {
    flat_size_ = kind == StepGraphKind::kStep ? TotalSize(slots_) : kAnyLength;
    switch (kind) {
      case StepGraphKind::kStep:
        AddStep();
        break;
      case StepGraphKind::kGradient:
        AddGradientOutputs();
        break;
      case StepGraphKind::kAccumulate:
        AddAccumulation();
        break;
      case StepGraphKind::kEvaluate:
      case StepGraphKind::kValidate:
        FloatOutput(loss_.losses, step_tensor::kLosses, {3});
        break;
      case StepGraphKind::kNorm:
        AddNorm();
        break;
      case StepGraphKind::kApply:
        AddUpdate();
        break;
      case StepGraphKind::kEnergy:
      case StepGraphKind::kEnergyGradient:
      case StepGraphKind::kTensor:
        break;  // has its outputs
    }
    if (flat_ && kind != StepGraphKind::kNorm && kind != StepGraphKind::kApply) CutParameters();
    return std::move(model_);
  }

 private:
  void AddStep() {
    const OptimizerNodes nodes =
        EmitOptimizer(Optimizer(), State(), Masked(AllGradients()), OptimizerControl(), AllPenalties());
    OutputState(nodes.next_state);
    FloatOutput(Op("Concat", {loss_.losses, nodes.norms}, {{"axis", int64_t{0}}}), step_tensor::kReport, {5});
  }

  // As one vector.
  Value AllGradients() {
    std::vector<Value> pieces;
    for (const Value& gradient : gradients_) pieces.push_back(Reshape(gradient, std::vector<int64_t>{-1}));
    return builder_.Node("Concat", pieces, {{"axis", int64_t{0}}});
  }

  // The parameters are parts of one vector: what were inputs are cut from it, in front of all nodes.
  void CutParameters() {
    auto& nodes = *builder_.graph().mutable_node();
    const int first = nodes.size();
    GraphBuilder cutter(model_, kPrefix);  // whose constants are its own, and so in front, too
    const Value all{&cutter, Flat(StateTensorName("parameters")).name};
    for (const ParameterSlot& slot : slots_) {
      RemoveInput(slot.name);
      const std::vector<int64_t> begin = {slot.offset}, end = {slot.offset + slot.size};
      Reshape(Op("Slice", {all, cutter.Ints(begin), cutter.Ints(end)}), slot.shape);
      nodes[nodes.size() - 1].set_output(0, slot.name);
    }
    std::rotate(nodes.begin(), nodes.begin() + first, nodes.end());
  }

  // Renamed, so that they are computed where they shall be. Where parameters have one gradient tensor in
  // common, the others copy it.
  void AddGradientOutputs() {
    if (flat_) FloatOutput(AllGradients(), step_tensor::kGradient, {flat_size_});
    if (!flat_) AddGradientOutputsOfParameters();
    FloatOutput(loss_.losses, step_tensor::kLosses, {3});
  }

  void AddGradientOutputsOfParameters() {
    std::map<std::string, Value> renamed;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const std::string name = step_tensor::GradientName(slots_[i].name);
      const auto first = renamed.find(gradients_[i].name);
      const Value output = first == renamed.end() ? builder_.Renamed(gradients_[i], name)
                                                  : builder_.Named(first->second, name);
      renamed.try_emplace(gradients_[i].name, output);
      builder_.Output(output, slots_[i].shape);
    }
  }

  void AddAccumulation() {
    using step_tensor::GradientName, step_tensor::kLosses, step_tensor::kGradient;
    if (flat_) FloatOutput(Flat(kGradient) + AllGradients(), Next(kGradient), {flat_size_});
    for (size_t i = 0; i < slots_.size() && !flat_; ++i) {
      const std::string name = GradientName(slots_[i].name);
      FloatOutput(FloatInput(name, slots_[i].shape) + gradients_[i], Next(name), slots_[i].shape);
    }
    FloatOutput(FloatInput(kLosses, {3}) + loss_.losses, Next(kLosses), {3});
  }

  void AddNorm() {
    OutputSquares(
        EmitPenalisedGradient(Optimizer(), State()[0], Masked(Flat(step_tensor::kGradient)), AllPenalties()));
  }

  void AddUpdate() {
    const PenaltyValues penalties = AllPenalties();
    const Value gradient =
        EmitPenalisedGradient(Optimizer(), State()[0], Masked(Flat(step_tensor::kGradient)), penalties);
    const std::vector<Value> next = EmitUpdate(
        Optimizer(), State(), gradient * FloatInput(step_tensor::kClip, {1}), OptimizerControl(), penalties);
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

  // Everything of the network but nodes, inputs, outputs and the initialisers that are trained.
  onnx::ModelProto MakeFrame() const {
    onnx::ModelProto frame;
    const onnx::ModelProto& network = network_.model;
    std::set<std::string> replaced = {network_.contract.input};
    for (const ParameterSlot& slot : slots_) replaced.insert(slot.name);
    frame.set_ir_version(std::max<int64_t>(network.ir_version(), GraphBuilder::kIrVersion));
    *frame.mutable_opset_import() = network.opset_import();
    *frame.mutable_functions() = network.functions();
    frame.mutable_graph()->set_name("training");
    for (const auto& tensor : network.graph().initializer()) {
      if (!replaced.count(tensor.name())) *frame.mutable_graph()->add_initializer() = tensor;
    }
    return frame;
  }

  void EmitRows() {
    builder_.Input(step_tensor::kRows, std::vector<int64_t>{-1, network_.contract.dimension},
                   onnx::TensorProto::UINT8);
    const Value x =
        Op("Cast", {builder_.Existing(step_tensor::kRows)}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    builder_.Renamed(x, network_.contract.input);
  }

  void EmitStates() {
    const std::vector<int64_t> shape = {-1, network_.contract.dimension};
    const Value x = Op("Identity", {FloatInput(step_tensor::kStates, shape)});
    builder_.Renamed(x, network_.contract.input);
  }

  void EmitNetwork() {
    for (const ParameterSlot& slot : slots_) builder_.Input(slot.name, slot.shape);
    for (const auto& node : network_.model.graph().node()) *builder_.graph().add_node() = node;
  }

  // Whoever reads a layer reads what is left of it.
  void DropUnits() {
    for (const DropoutOptions::Layer& layer : options_.dropout.layers) {
      const bool last = layer.of_images && FindMaker(ChannelsLastName(layer.tensor)) >= 0;
      const std::string tensor = last ? ChannelsLastName(layer.tensor) : layer.tensor;
      const int maker = FindMaker(tensor), nodes = builder_.graph().node_size();
      if (maker < 0) BadModel("there is no layer '" + tensor + "' whose units could be dropped");
      Value factors = FloatInput(step_tensor::DropoutName(layer.tensor), {-1, layer.units});
      if (layer.of_images)
        factors = Unsqueeze(factors, last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
      const Value dropped = builder_.Existing(tensor) * factors;
      for (int i = 0; i < nodes; ++i)
        for (std::string& input : *builder_.graph().mutable_node(i)->mutable_input())
          if (input == tensor) input = dropped.name;
      auto& all = *builder_.graph().mutable_node();
      std::rotate(all.begin() + maker + 1, all.begin() + nodes, all.end());
    }
  }

  // The number of the node that makes a tensor; -1: none does.
  int FindMaker(const std::string& tensor) {
    const auto& nodes = builder_.graph().node();
    const auto found = std::ranges::find_if(nodes, [&](const onnx::NodeProto& node) {
      return std::ranges::find(node.output(), tensor) != node.output().end();
    });
    return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
  }

  void RemoveInput(const std::string& name) {
    auto& inputs = *builder_.graph().mutable_input();
    inputs.erase(std::ranges::find_if(inputs, [&](const auto& input) { return input.name() == name; }));
  }

  // What was made an input because it might have been trained.
  void MakeConstant(const std::string& name) {
    RemoveInput(name);
    *builder_.graph().add_initializer() = Initializer(network_.model, name);
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

  OptimizerSetup Optimizer() const { return {options_.optimizer, options_.penalties}; }

  std::vector<Value> State() {
    std::vector<Value> state;
    for (const std::string& kind : StateNames(options_.optimizer))
      state.push_back(Flat(StateTensorName(kind)));
    return state;
  }

  void OutputState(const std::vector<Value>& next) {
    const std::vector<std::string> kinds = StateNames(options_.optimizer);
    for (size_t i = 0; i < kinds.size(); ++i)
      FloatOutput(next[i], Next(StateTensorName(kinds[i])), {flat_size_});
  }

  void OutputSquares(const Value& vector) {
    FloatOutput(Reduce("ReduceSumSquare", vector, std::vector<int64_t>{0}, true), step_tensor::kSquares, {1});
  }

  // Enough to keep zeros: without a gradient nothing moves them, neither moments nor decay nor average.
  Value Masked(const Value& gradient) {
    return options_.keeps_zeros() ? gradient * Flat(StateTensorName(kZeroMaskKind)) : gradient;
  }

  PenaltyValues AllPenalties() {
    const PenaltyOptions& p = options_.penalties;
    return {Penalty(p.weight_decay, p.weight_decay_parameters, "weight_decay_parameters",
                    step_tensor::kWeightDecay),
            Penalty(p.l1, p.l1_parameters, "l1_parameters", step_tensor::kL1)};
  }

  Value Penalty(double strength, const std::vector<std::string>& patterns, const std::string& key,
                const char* name) {
    if (strength == 0) return {&builder_, ""};
    const std::vector<float> strengths = PenaltyVector(strength, patterns, key, slots_);
    if (strengths.empty()) return builder_.Scalar(static_cast<float>(strength));
    return flat_size_ == kAnyLength ? Flat(name) : builder_.Constant(std::vector{flat_size_}, strengths);
  }

  static constexpr int64_t kAnyLength = -1;

  const PreparedModel& network_;
  const LearnerOptions& options_;
  BatchShape batch_;
  std::vector<ParameterSlot> slots_;
  bool flat_;  // whether parameters and gradients are parts of vectors
  int64_t flat_size_ = kAnyLength;
  onnx::ModelProto model_;
  GraphBuilder builder_;
  std::set<std::string> inputs_;
  std::vector<Value> control_;
  ObjectiveNodes loss_;
  std::vector<Value> gradients_;
};

namespace {

// What may be trained, whether it has influence or not.
std::vector<ParameterSlot> Candidates(const onnx::ModelProto& model, const LearnerOptions& options) {
  std::vector<ParameterSlot> slots;
  for (const std::string& name : ParameterNames(model, options.frozen, options.buffers)) {
    const onnx::TensorProto& tensor = Initializer(model, name);
    slots.push_back(
        {name, {tensor.dims().begin(), tensor.dims().end()}, TotalSize(slots), ElementCount(tensor)});
  }
  return slots;
}

void RequireParameters(const std::vector<ParameterSlot>& slots) {
  if (slots.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "there is nothing to train: no float initialiser of the model that is not frozen influences "
                "its energy");
}

bool HasParameterGradients(StepGraphKind kind) {
  return kind == StepGraphKind::kStep || kind == StepGraphKind::kGradient ||
         kind == StepGraphKind::kAccumulate;
}

}  // namespace

StepGraphs::StepGraphs(const PreparedModel& network, const LearnerOptions& options, const BatchShape& batch)
    : network_(network), options_(options), batch_(batch), validation_(options) {
  if (options_.validation) validation_.objective = options_.validation->objective;
  CheckOptions(options_.optimizer);
  CheckOptions(options_.penalties);
  const std::vector<ParameterSlot> candidates = Candidates(network_.model, options_);
  if (const std::string why = DescribeQuantized(network_.model.graph(), ListNames(candidates)); !why.empty())
    BadModel(why);
  differentiated_ = std::make_unique<Assembly>(network_, options_, batch_, candidates);
  differentiated_->AddLoss(/*training=*/true);
  differentiated_->AddGradients();
  slots_ = differentiated_->slots();
  RequireParameters(slots_);
  ClearParameters(network_.model, slots_);
}

StepGraphs::~StepGraphs() = default;

const std::vector<ParameterSlot>& StepGraphs::slots() const { return slots_; }

onnx::ModelProto StepGraphs::Make(StepGraphKind kind) {
  if (HasParameterGradients(kind)) {
    const auto assembly = std::move(differentiated_);
    return assembly->Complete(kind);
  }
  using Kind = StepGraphKind;
  const bool own = kind == Kind::kValidate && options_.validation;
  Assembly assembly(network_, own ? validation_ : options_, own ? options_.validation->batch : batch_,
                    slots_);
  if (kind == Kind::kEvaluate || kind == Kind::kValidate) assembly.AddLoss(/*training=*/false);
  if (kind == Kind::kEnergy || kind == Kind::kEnergyGradient) assembly.AddEnergies();
  if (kind == Kind::kEnergyGradient) assembly.AddSlopes();
  if (kind == Kind::kTensor) assembly.AddTensor();
  return assembly.Complete(kind);
}

std::vector<ParameterSlot> TrainedParameters(const PreparedModel& network,
                                             const std::vector<std::string>& frozen) {
  LearnerOptions options;
  options.frozen = frozen;
  options.buffers = FindRoles(network.model, {}).BufferNames();
  PreparedModel expanded = network;
  ExpandOperators(expanded.model);
  return StepGraphs(expanded, options, {.negatives = 1}).slots();
}

int64_t TotalSize(const std::vector<ParameterSlot>& slots) {
  return slots.empty() ? 0 : slots.back().offset + slots.back().size;
}

std::vector<std::string> ListNames(const std::vector<ParameterSlot>& slots) {
  std::vector<std::string> names;
  for (const ParameterSlot& slot : slots) names.push_back(slot.name);
  return names;
}

std::vector<float> PenaltyVector(double strength, const std::vector<std::string>& patterns,
                                 const std::string& key, const std::vector<ParameterSlot>& slots) {
  if (strength == 0) return {};
  const std::vector<bool> selected = Select(ListNames(slots), patterns, key);
  if (std::ranges::all_of(selected, std::identity{})) return {};
  std::vector<float> strengths(static_cast<size_t>(TotalSize(slots)));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (selected[i])
      std::fill_n(strengths.begin() + slots[i].offset, slots[i].size, static_cast<float>(strength));
  }
  return strengths;
}

std::vector<float> ZeroMask(const std::vector<float>& parameters, const std::vector<ParameterSlot>& slots,
                            const LearnerOptions& options) {
  std::vector<bool> selected = Select(ListNames(slots), options.freeze_zeros, "freeze_zeros_parameters");
  for (size_t i = 0; i < slots.size(); ++i)
    if (std::ranges::count(options.masked, slots[i].name) > 0) selected[i] = true;
  std::vector<float> mask(parameters.size(), 1);
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto end = static_cast<size_t>(slots[i].offset + slots[i].size);
    for (auto k = static_cast<size_t>(slots[i].offset); k < end; ++k)
      if (selected[i] && parameters[k] == 0) mask[k] = 0;
  }
  return mask;
}

std::vector<float> ControlVector(const OptimizerOptions& options, double learning_rate, int64_t step,
                                 int64_t groups) {
  const StepControl control = MakeControl(options, learning_rate, step);
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
