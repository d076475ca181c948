#include "trainer/graph/fold/resolve_sequences.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/fold/constant_values.h"
#include "trainer/graph/fold/raw_nodes.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {
namespace {

using Names = std::vector<std::string>;

std::string Input(const onnx::NodeProto& node, int i) { return i < node.input_size() ? node.input(i) : ""; }

class Resolver {
 public:
  explicit Resolver(onnx::ModelProto& model)
      : model_(model), graph_(*model.mutable_graph()), constants_(graph_), names_(model) {}

  bool Run() {
    bool any = false;
    for (const auto& node : graph_.node()) {
      if (!IsStandardDomain(node.domain()) || node.output_size() == 0) {
        *nodes_.Add() = node;
      } else if (Reads(node)) {
        any = true;
      } else {
        Follow(node);
      }
    }
    if (any) graph_.mutable_node()->Swap(&nodes_);
    return any;
  }

 private:
  // Nodes that make sequences stay, for those who read them in other ways; what nobody reads goes later.
  void Follow(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    std::optional<Names> made;
    if (op == "SequenceEmpty") made = Names();
    if (op == "SequenceConstruct") made = Names(node.input().begin(), node.input().end());
    if (op == "Identity" && Find(node, 0)) made = *Find(node, 0);
    if (op == "SequenceInsert") made = Inserted(node);
    if (op == "SequenceErase") made = Erased(node);
    if (op == "SplitToSequence") made = Split(node);
    if (made) sequences_[node.output(0)] = *made;
    *nodes_.Add() = node;
  }

  // Puts others in the place of a node that takes tensors from a sequence.
  bool Reads(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    const Names* sequence = Find(node, 0);
    if (!sequence) return false;
    if (op == "SequenceLength") {
      AddConstant(nodes_, onnx::TensorProto::INT64, {}, {std::ssize(*sequence)}, node.output(0));
      return true;
    }
    if (op == "SequenceAt") {
      const auto place = Place(node, 1, std::ssize(*sequence) - 1);
      if (place) AddNode(nodes_, "Identity", {(*sequence)[*place]}, node.output(0));
      return place.has_value();
    }
    return op == "ConcatFromSequence" && Concatenate(node, *sequence);
  }

  bool Concatenate(const onnx::NodeProto& node, Names parts) {
    if (parts.empty()) return false;
    const int64_t axis = IntAttributeOr(node, "axis", 0);
    if (IntAttributeOr(node, "new_axis", 0) != 0) {
      const std::string axes = names_.Fresh("axes");
      AddConstant(nodes_, onnx::TensorProto::INT64, {1}, {axis}, axes);
      for (std::string& part : parts) {
        const std::string unsqueezed = names_.Fresh(part);
        AddNode(nodes_, "Unsqueeze", {part, axes}, unsqueezed);
        part = unsqueezed;
      }
    }
    SetInt(AddNode(nodes_, "Concat", parts, node.output(0)), "axis", axis);
    return true;
  }

  std::optional<Names> Inserted(const onnx::NodeProto& node) {
    const Names* sequence = Find(node, 0);
    if (!sequence) return std::nullopt;
    const std::string position = Input(node, 2);
    const auto place = position.empty() ? std::optional<int64_t>(std::ssize(*sequence))
                                        : Place(node, 2, std::ssize(*sequence));
    if (!place) return std::nullopt;
    Names longer = *sequence;
    longer.insert(longer.begin() + *place, node.input(1));
    return longer;
  }

  std::optional<Names> Erased(const onnx::NodeProto& node) {
    const Names* sequence = Find(node, 0);
    if (!sequence || sequence->empty()) return std::nullopt;
    const int64_t last = std::ssize(*sequence) - 1;
    const auto place = Input(node, 1).empty() ? std::optional<int64_t>(last) : Place(node, 1, last);
    if (!place) return std::nullopt;
    Names shorter = *sequence;
    shorter.erase(shorter.begin() + *place);
    return shorter;
  }

  // A Split, beside the node itself.
  std::optional<Names> Split(const onnx::NodeProto& node) {
    const auto sizes = PartSizes(node);
    if (!sizes) return std::nullopt;
    const int64_t axis = IntAttributeOr(node, "axis", 0);
    const std::string list = names_.Fresh("sizes"), axes = names_.Fresh("axes");
    AddConstant(nodes_, onnx::TensorProto::INT64, {std::ssize(*sizes)}, *sizes, list);
    onnx::NodeProto split;
    split.set_op_type("Split");
    split.add_input(node.input(0));
    split.add_input(list);
    SetInt(split, "axis", axis);
    Names parts;
    for (size_t i = 0; i < sizes->size(); ++i) {
      parts.push_back(names_.Fresh(node.output(0)));
      split.add_output(parts.back());
    }
    *nodes_.Add() = split;
    if (!Input(node, 1).empty() || IntAttributeOr(node, "keepdims", 1) != 0) return parts;
    AddConstant(nodes_, onnx::TensorProto::INT64, {1}, {axis}, axes);
    for (std::string& part : parts) {
      const std::string squeezed = names_.Fresh(part);
      AddNode(nodes_, "Squeeze", {part, axes}, squeezed);
      part = squeezed;
    }
    return parts;
  }

  std::optional<std::vector<int64_t>> PartSizes(const onnx::NodeProto& node) {
    const int64_t extent = KnownExtent(Infos(), node.input(0), IntAttributeOr(node, "axis", 0));
    int64_t each = 1;
    if (const std::string split = Input(node, 1); !split.empty()) {
      const auto sizes = constants_.Ints(split);
      if (!sizes || sizes->empty()) return std::nullopt;
      if (!IsScalar(split)) return sizes;
      each = sizes->front();
    }
    if (extent < 1 || each < 1) return std::nullopt;
    std::vector<int64_t> sizes(extent / each, each);
    if (extent % each != 0) sizes.push_back(extent % each);
    return sizes;
  }

  bool IsScalar(const std::string& tensor) {
    const auto info = Infos().find(tensor);
    return info != Infos().end() && info->second.has_rank && info->second.rank() == 0;
  }

  const TensorInfos& Infos() {
    if (infos_.empty()) infos_ = InferShapes(model_);
    return infos_;
  }

  const Names* Find(const onnx::NodeProto& node, int i) const {
    const auto found = sequences_.find(Input(node, i));
    return found == sequences_.end() ? nullptr : &found->second;
  }

  // The constant input i, counted from the end where negative, if it is one of 0 to `last`.
  std::optional<int64_t> Place(const onnx::NodeProto& node, int i, int64_t last) const {
    const auto numbers = constants_.Ints(Input(node, i));
    if (!numbers || numbers->size() != 1) return std::nullopt;
    const int64_t place = (*numbers)[0] < 0 ? (*numbers)[0] + last + 1 : (*numbers)[0];
    return place >= 0 && place <= last ? std::optional(place) : std::nullopt;
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  const ConstantValues constants_;
  GraphNames names_;
  RawNodes nodes_;
  std::map<std::string, Names> sequences_;
  TensorInfos infos_;
};

bool MakesSequence(const onnx::NodeProto& node) {
  return node.op_type().starts_with("Sequence") || node.op_type() == "SplitToSequence";
}

bool HasSequences(const onnx::GraphProto& graph) { return std::ranges::any_of(graph.node(), MakesSequence); }

// Sequences, and Identities of them, that nothing reads any more.
void RemoveUnread(onnx::GraphProto& graph) {
  std::set<std::string> read;
  for (const auto& output : graph.output()) read.insert(output.name());
  RawNodes kept;
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto& node = graph.node(i);
    const bool is_read =
        std::ranges::any_of(node.output(), [&](const auto& name) { return read.contains(name); });
    if (!is_read && (MakesSequence(node) || node.op_type() == "Identity")) continue;
    for (const std::string& tensor : TensorsRead(node)) read.insert(tensor);
    *kept.Add() = node;
  }
  std::reverse(kept.pointer_begin(), kept.pointer_end());
  graph.mutable_node()->Swap(&kept);
}

}  // namespace

bool ResolveSequences(onnx::ModelProto& model) {
  if (!HasSequences(model.graph()) || !Resolver(model).Run()) return false;
  RemoveUnread(*model.mutable_graph());
  return true;
}

}  // namespace ort_ed
