#include "trainer/ort_training/training_models.h"

#include <algorithm>
#include <utility>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/fold/raw_nodes.h"
#include "trainer/graph/tidy_model.h"
#include "trainer/ort_training/optimizer_model.h"

namespace ort_ed {
namespace {

constexpr int64_t kNewestOpset = 21;  // that ONNX Runtime 1.19.2 knows
constexpr char kPrefix[] = "ort_ed/training/";
constexpr char kMicrosoft[] = "com.microsoft";
constexpr char kReset[] = "lazy_reset_grad";  // this, and the endings below, are ONNX Runtime's
constexpr char kBuffer[] = "_grad.accumulation.buffer";
constexpr char kAccumulated[] = "_grad.accumulation.out";

template <typename Protos>
void RemoveNamed(Protos& protos, const std::string& name) {
  const auto found = std::ranges::find_if(protos, [&](const auto& proto) { return proto.name() == name; });
  if (found != protos.end()) protos.erase(found);
}

// The node that makes the network's input of the bytes of all rows goes.
void RemoveRows(onnx::GraphProto& graph) {
  RemoveNamed(*graph.mutable_input(), step_tensor::kRows);
  auto& nodes = *graph.mutable_node();
  nodes.erase(std::ranges::find_if(nodes, [](const onnx::NodeProto& node) {
    return std::ranges::count(node.input(), step_tensor::kRows) > 0;
  }));
}

// A graph of the step with other inputs: rows and negatives apart, and no control.
class Adapter {
 public:
  Adapter(onnx::ModelProto model, const EnergyContract& contract, const BatchShape& batch)
      : contract_(contract), batch_(batch), model_(Stripped(std::move(model))), builder_(model_, kPrefix) {
    AddInputs();
    AddControl();
    OutputLosses();
  }

  GraphBuilder& builder() { return builder_; }
  Value rows() { return builder_.Existing(contract_.input); }

  // An output of the graph of the step, which is none any more.
  Value Take(const std::string& name) {
    RemoveNamed(*builder_.graph().mutable_output(), name);
    return builder_.Existing(name);
  }

  onnx::ModelProto Complete() {
    SortNodes(model_);
    return std::move(model_);
  }

 private:
  // The network reads its input under another name: its own is that of the rows of data alone.
  onnx::ModelProto Stripped(onnx::ModelProto model) {
    onnx::GraphProto& graph = *model.mutable_graph();
    RemoveRows(graph);
    RemoveNamed(*graph.mutable_input(), step_tensor::kControl);
    RemoveNamed(*graph.mutable_input(), contract_.input);
    all_rows_ = std::string(kPrefix) + "all_rows";
    for (auto& node : *graph.mutable_node()) Rename(node, {{contract_.input, all_rows_}});
    return model;
  }

  void AddInputs() {
    const int64_t m = batch_.negatives, d = contract_.dimension;
    Value rows = builder_.Input(contract_.input, std::vector<int64_t>{-1, d});
    if (m > 0) {
      const Value negatives = builder_.Input(training_tensor::kNegatives, std::vector<int64_t>{-1, m, d});
      rows = Reshape(Op("Concat", {Unsqueeze(rows, {1}), negatives}, {{"axis", int64_t{1}}}),
                     std::vector<int64_t>{-1, d});
    }
    AddNode(*builder_.graph().mutable_node(), "Identity", {rows.name}, all_rows_);
    std::ranges::stable_partition(*builder_.graph().mutable_input(), [&](const auto& input) {
      return input.name() == contract_.input || input.name() == training_tensor::kNegatives;
    });
  }

  // The loss is a mean; nothing else of the control is read.
  void AddControl() {
    const Value count = Op("Gather", {Op("Shape", {rows()}), builder_.Ints({{0}})});
    const Value mean = Op("Reciprocal", {Op("Cast", {count}, {{"to", int64_t{onnx::TensorProto::FLOAT}}})});
    const Value rest =
        builder_.Constant(std::vector<int64_t>{kControlSize - 1}, std::vector<float>(kControlSize - 1));
    AddNode(*builder_.graph().mutable_node(), "Concat", {mean.name, rest.name}, step_tensor::kControl)
        .add_attribute()
        ->CopyFrom(Axis0());
  }

  static onnx::AttributeProto Axis0() {
    onnx::NodeProto node;
    SetInt(node, "axis", 0);
    return node.attribute(0);
  }

  // ONNX Runtime wants the loss first.
  void OutputLosses() {
    const Value losses = Take(step_tensor::kLosses);
    const Value loss = Op("Gather", {losses, builder_.IntScalar(0)});
    const Value energies = Op("Gather", {losses, builder_.Ints({{1, 2}})});
    builder_.Output(builder_.Named(loss, training_tensor::kLoss), {});
    builder_.Output(builder_.Named(energies, training_tensor::kEnergies), std::vector<int64_t>{2});
    auto& outputs = *builder_.graph().mutable_output();
    std::rotate(outputs.begin(), outputs.end() - 2, outputs.end());
  }

  const EnergyContract& contract_;
  const BatchShape& batch_;
  std::string all_rows_;
  onnx::ModelProto model_;
  GraphBuilder builder_;
};

// What of a gradient is left where entries of the parameter stay zero.
Value Masked(const Value& gradient, const ParameterSlot& slot, const SupportsByName& supports) {
  const auto support = supports.find(slot.name);
  if (support == supports.end() || std::ranges::count(support->second, 0.0f) == 0) return gradient;
  return gradient * gradient.graph->Constant(slot.shape, support->second);
}

onnx::ModelProto TrainingModel(StepGraphs& graphs, const EnergyContract& contract, const BatchShape& batch,
                               const SupportsByName& supports) {
  Adapter adapter(graphs.Make(StepGraphKind::kGradient), contract, batch);
  GraphBuilder& builder = adapter.builder();
  const auto& slots = graphs.slots();
  for (const ParameterSlot& slot : slots) builder.Input(slot.name + kBuffer, slot.shape);
  const Value reset = builder.Input(kReset, std::vector<int64_t>{1}, onnx::TensorProto::BOOL);
  for (const ParameterSlot& slot : slots) {
    const Value gradient = Masked(adapter.Take(step_tensor::GradientName(slot.name)), slot, supports);
    const std::vector<Value> inputs = {builder.Existing(slot.name + kBuffer), gradient, reset};
    const Value done = builder.NodeWithOutputs("InPlaceAccumulatorV2", inputs, 1, {}, kMicrosoft).front();
    builder.Output(builder.Named(done, slot.name + kAccumulated), std::vector<int64_t>{1},
                   onnx::TensorProto::BOOL);
  }
  onnx::OperatorSetIdProto& opset = *builder.model().add_opset_import();
  opset.set_domain(kMicrosoft);
  opset.set_version(1);
  return adapter.Complete();
}

// The network once more, on the rows of data alone: its energies are an output that can be cut out of it.
Value EnergiesOf(Adapter& adapter, const PreparedModel& network) {
  GraphBuilder& builder = adapter.builder();
  Renaming renaming;
  for (const auto& node : network.model.graph().node())
    for (const auto& output : node.output())
      if (!output.empty()) renaming[output] = builder.FreshName(output);
  for (const auto& node : network.model.graph().node()) {
    onnx::NodeProto& copy = *builder.graph().add_node() = node;
    copy.clear_name();
    Rename(copy, renaming);
  }
  const Value energies = builder.Existing(renaming.at(network.contract.output));
  return Reshape(energies, std::vector<int64_t>{-1});
}

onnx::ModelProto EvaluationModel(StepGraphs& graphs, const PreparedModel& network, const BatchShape& batch) {
  Adapter adapter(graphs.Make(StepGraphKind::kEvaluate), network.contract, batch);
  GraphBuilder& builder = adapter.builder();
  const std::string& output = network.contract.output;
  builder.Renamed(builder.Existing(output), builder.FreshName(output));
  AddNode(*builder.graph().mutable_node(), "Identity", {EnergiesOf(adapter, network).name}, output);
  builder.Output(builder.Existing(output), std::vector<int64_t>{-1});
  return adapter.Complete();
}

void RequireKnownOpset(const onnx::ModelProto& model) {
  if (const int64_t opset = StandardOpset(model); opset > kNewestOpset)
    throw Error(ErrorCode::kInvalidArgument,
                "the model needs opset " + std::to_string(opset) +
                    ", and ONNX Runtime 1.19.2, the last with training, knows opsets up to " +
                    std::to_string(kNewestOpset));
}

}  // namespace

TrainingModels MakeTrainingModels(const PreparedModel& prepared, const LearnerOptions& options,
                                  const BatchShape& batch, const SupportsByName& supports) {
  PreparedModel network = prepared;
  ExpandOperators(network.model);
  RequireKnownOpset(network.model);
  TrainingModels models;
  models.optimizer = MakeOptimizerModel(options);
  StepGraphs graphs(network, options, batch);
  models.parameters = graphs.slots();
  models.evaluation = EvaluationModel(graphs, network, batch);
  models.training = TrainingModel(graphs, network.contract, batch, supports);
  return models;
}

}  // namespace ort_ed
