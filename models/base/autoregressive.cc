#include "models/base/autoregressive.h"

#include <algorithm>
#include <cmath>

#include "models/base/base_distribution.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr char kMadeArchitectureName[] = "made";
constexpr const char* kBaseKeys[] = {metadata_key::kBase, metadata_key::kBaseOrder, metadata_key::kBaseView};

std::string BaseName(const std::string& name) {
  return name.empty() || name.starts_with(kBaseTensorPrefix) ? name : kBaseTensorPrefix + name;
}

// The base's nodes, under names of their own, on the input `x` of the model. Returns U0.
std::string CopyNodes(const onnx::GraphProto& base, const EnergyContract& contract, const std::string& x,
                      onnx::GraphProto& graph) {
  const auto renamed = [&](const std::string& name) { return name == contract.input ? x : BaseName(name); };
  for (const onnx::NodeProto& node : base.node()) {
    onnx::NodeProto& copy = *graph.add_node() = node;
    copy.set_name(BaseName(node.name()));
    for (std::string& name : *copy.mutable_input()) name = renamed(name);
    for (std::string& name : *copy.mutable_output()) name = renamed(name);
  }
  for (const onnx::TensorProto& tensor : base.initializer()) {
    onnx::TensorProto& copy = *graph.add_initializer() = tensor;
    copy.set_name(renamed(tensor.name()));
  }
  return renamed(contract.output);
}

void Require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, what);
}

// Names count where both have them.
bool HaveSameStates(const Variables& a, const Variables& b) {
  if (a.described() && b.described()) return a == b;
  return a.all_binary() && b.all_binary();
}

std::string CountVariables(const onnx::ModelProto& model, int64_t dimension) {
  const Variables variables = GetVariables(model, dimension);
  const std::string bits = variables.all_binary() ? "" : " in " + std::to_string(dimension) + " bits";
  return std::to_string(variables.size()) + " variables" + bits;
}

// Every network has one.
std::string OutputBias(int64_t network) {
  return kBaseTensorPrefix + BaseNetworkPrefix(network) + "output.bias";
}

bool HasNetwork(const onnx::ModelProto& model, int64_t network) {
  const auto& initialisers = model.graph().initializer();
  return std::ranges::find(initialisers, OutputBias(network), &onnx::TensorProto::name) != initialisers.end();
}

// Of all networks, whose layers 1, 2, ... are called so and have a bias.
std::vector<HiddenLayer> FindLayers(const onnx::ModelProto& model, std::string (*name)(int64_t, int64_t)) {
  const auto& initialisers = model.graph().initializer();
  std::vector<HiddenLayer> layers;
  for (int64_t network = 0; HasNetwork(model, network); ++network) {
    for (int64_t layer = 1;; ++layer) {
      const std::string tensor = name(network, layer);
      const auto bias = std::ranges::find(initialisers, tensor + ".bias", &onnx::TensorProto::name);
      if (bias == initialisers.end()) break;
      layers.push_back({tensor, ElementCount(*bias)});
    }
  }
  return layers;
}

bool HasBase(const onnx::ModelProto& model) {
  return !GetMetadata(model, metadata_key::kBaseMean).empty() ||
         !GetMetadata(model, metadata_key::kBase).empty();
}

}  // namespace

void NoteBase(onnx::ModelProto& model, int64_t hidden_layers, std::span<const std::vector<int64_t>> orders) {
  const std::string networks = orders.size() == 1 ? "" : "x" + std::to_string(orders.size());
  SetMetadata(model, metadata_key::kBase, "made:" + std::to_string(hidden_layers) + networks);
  if (orders.size() == 1 && std::ranges::is_sorted(orders[0])) return;
  std::vector<std::string> lists;
  for (const std::vector<int64_t>& order : orders) {
    std::vector<std::string> variables;
    for (const int64_t variable : order) variables.push_back(std::to_string(variable));
    lists.push_back(Join(variables, ","));
  }
  SetMetadata(model, metadata_key::kBaseOrder, Join(lists, ";"));
}

bool IsNormalised(const onnx::ModelProto& model) {
  return GetMetadata(model, metadata_key::kArchitecture) == kMadeArchitectureName &&
         !GetMetadata(model, metadata_key::kBase).empty();
}

void NoteNormalised(onnx::ModelProto& model) {
  if (!IsNormalised(model)) return;
  SetMetadata(model, metadata_key::kLogZ, "0");
  SetMetadata(model, metadata_key::kLogZError, "0");
  SetMetadata(model, metadata_key::kLogZMethod, "exact: normalised by its form");
}

std::string HiddenTensor(int64_t network, int64_t layer) {
  return kBaseTensorPrefix + BaseNetworkPrefix(network) + "hidden" + std::to_string(layer);
}

std::string ViewBlockTensor(int64_t network, int64_t block) {
  return kBaseTensorPrefix + BaseNetworkPrefix(network) + "view_block" + std::to_string(block);
}

std::vector<HiddenLayer> HiddenLayers(const onnx::ModelProto& model) {
  return FindLayers(model, HiddenTensor);
}
std::vector<HiddenLayer> ViewBlocks(const onnx::ModelProto& model) {
  return FindLayers(model, ViewBlockTensor);
}

void SetOutputBias(onnx::ModelProto& model, std::span<const float> means, const Variables& variables) {
  std::vector<float> log_odds;
  for (const double m : means) {
    const bool binary = variables.bits(variables.variable_of(std::ssize(log_odds))) == 1;
    log_odds.push_back(static_cast<float>(std::log(m) - (binary ? std::log1p(-m) : 0)));
  }
  for (int64_t network = 0; network == 0 || HasNetwork(model, network); ++network) {
    onnx::TensorProto* const bias = FindInitialiser(model, OutputBias(network));
    Require(bias != nullptr && ElementCount(*bias) == std::ssize(means),
            "the model has no bias for each of " + std::to_string(means.size()) + " means");
    bias->clear_float_data();
    bias->set_raw_data(log_odds.data(), log_odds.size() * sizeof(float));
  }
}

void AddAutoregressiveBase(onnx::ModelProto& model, const onnx::ModelProto& base) {
  const EnergyContract contract = CheckContract(model, "the model");
  const EnergyContract of_base = CheckContract(base, "the base distribution");
  Require(
      IsNormalised(base),
      "a base must be a normalised model: one trained with model made, or by base made in an earlier run");
  Require(!HasBase(model), "the model already has a base distribution");
  Require(of_base.dimension == contract.dimension,
          "the base distribution has " + CountVariables(base, of_base.dimension) + ", the model " +
              CountVariables(model, contract.dimension));
  Require(HaveSameStates(GetVariables(base, contract.dimension), GetVariables(model, contract.dimension)),
          "the base distribution knows other variables than the model: their names or states differ");

  GraphBuilder graph(model);
  Value net = graph.Renamed(graph.Existing(contract.output), graph.FreshName("net_energy"));
  if (contract.output_rank != 1) net = Reshape(net, std::vector<int64_t>{0});
  const std::string u0 = CopyNodes(base.graph(), of_base, contract.input, graph.graph());
  const Value energy = graph.Renamed(net + graph.Existing(u0), contract.output);
  graph.graph().clear_output();
  graph.Output(energy, std::vector<int64_t>{-1});
  RemoveStaleMetadata(model);
  for (const char* key : kBaseKeys) SetMetadata(model, key, GetMetadata(base, key));
}

onnx::ModelProto RemoveAutoregressiveBase(const onnx::ModelProto& model) {
  const EnergyContract contract = CheckContract(model, "the model");
  const auto& nodes = model.graph().node();
  const auto sum = std::ranges::find_if(nodes, [&](const onnx::NodeProto& node) {
    return node.op_type() == "Add" && node.output(0) == contract.output &&
           node.input(1).starts_with(kBaseTensorPrefix);
  });
  Require(sum != nodes.end(), "the model has no learned base distribution to remove");
  const auto is_base = [](const std::string& name) { return name.starts_with(kBaseTensorPrefix); };
  onnx::ModelProto network = model;
  onnx::GraphProto& graph = *network.mutable_graph();
  graph.clear_node();
  for (const onnx::NodeProto& node : nodes) {
    if (&node == &*sum || is_base(node.output(0))) continue;
    onnx::NodeProto& copy = *graph.add_node() = node;
    for (auto* names : {copy.mutable_input(), copy.mutable_output()})
      for (std::string& name : *names)
        if (name == sum->input(0)) name = contract.output;
  }
  auto& initialisers = *graph.mutable_initializer();
  initialisers.erase(std::remove_if(initialisers.begin(), initialisers.end(),
                                    [&](const onnx::TensorProto& tensor) { return is_base(tensor.name()); }),
                     initialisers.end());
  for (const char* key : kBaseKeys) SetMetadata(network, key, "");
  RemoveStaleMetadata(network);
  return network;
}

}  // namespace ort_ed
