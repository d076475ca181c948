#include "trainer/passes/channels_last.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

bool IsOurs(const onnx::NodeProto& node, const char* op) {
  return node.domain() == kCpuKernelDomain && node.op_type() == op;
}

bool IsImageKernel(const onnx::NodeProto& node) {
  for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "GroupNorm"})
    if (IsOurs(node, op)) return true;
  return false;
}

// Operators that treat every element alike, whatever its place.
bool IsElementwise(const onnx::NodeProto& node) {
  static const std::set<std::string> standard = {
      "Abs",       "Add",  "Celu", "Clip",      "Div",         "Elu",
      "Erf",       "Exp",  "Gelu", "HardSwish", "HardSigmoid", "Identity",
      "LeakyRelu", "Log",  "Max",  "Min",       "Mish",        "Mul",
      "Neg",       "Pow",  "Relu", "Selu",      "Sigmoid",     "Softplus",
      "Softsign",  "Sqrt", "Sub",  "Sum",       "Tanh",        "ThresholdedRelu"};
  if (IsStandardDomain(node.domain())) return standard.count(node.op_type()) > 0;
  return IsOurs(node, "Swish") || IsOurs(node, "Gelu") || IsOurs(node, "Relu");
}

// Walks through the graph in order and copies it. A tensor exists as it was, or with channels last, or both;
// the first to need a form that does not exist makes it.
class LayoutPass {
 public:
  LayoutPass(onnx::GraphProto& graph, const TensorInfos& infos) : graph_(graph), infos_(infos) {
    for (const auto& tensor : graph.initializer())
      if (tensor.data_type() == onnx::TensorProto::INT64)
        ints_[tensor.name()] = onnx::ParseData<int64_t>(&tensor);
    for (const auto& node : graph.node()) {
      has_images_ |= IsImageKernel(node);
      const auto* value = node.op_type() == "Constant" ? FindAttribute(node, "value") : nullptr;
      if (value && value->t().data_type() == onnx::TensorProto::INT64)
        ints_[node.output(0)] = onnx::ParseData<int64_t>(&value->t());
    }
  }

  void Run() {
    NodeList nodes;
    nodes.Swap(graph_.mutable_node());
    for (onnx::NodeProto& node : nodes) {
      if (IsImageKernel(node)) {
        node.set_input(0, Last(node.input(0)));
        MakeLast(node);
      } else if (JoinsChannels(node)) {
        for (std::string& input : *node.mutable_input()) input = Last(input);
        SetAxis(node, Info(node.output(0))->rank() - 1);
        MakeLast(node);
      } else if (ReducesImages(node)) {
        const std::string axes = SpatialAxes(node);
        node.set_input(0, last_.at(node.input(0)));
        node.set_input(1, axes);
      } else if (TakesChannelsLast(node)) {
        node.set_op_type("Identity");
        node.set_input(0, last_.at(node.input(0)));
        node.clear_attribute();
      } else if (GivesChannelsFirst(node)) {
        RequireFirst(node);
        last_[node.output(0)] = node.input(0);
        only_last_.insert(node.output(0));
        continue;
      } else if (IsElementwise(node) && CanBeLast(node)) {
        for (int i = 0; i < node.input_size(); ++i) {
          if (!HasOneElement(node.input(i))) node.set_input(i, Last(node.input(i)));
        }
        MakeLast(node);
      } else {
        RequireFirst(node);
      }
      *graph_.add_node() = std::move(node);
    }
    for (const auto& output : graph_.output()) RequireFirst(output.name());
  }

 private:
  void MakeLast(onnx::NodeProto& node) {
    const std::string first = node.output(0);
    last_[first] = ChannelsLastName(first);
    node.set_output(0, last_[first]);
    only_last_.insert(first);
  }

  bool IsOnlyLast(const std::string& tensor) const { return only_last_.count(tensor) > 0 && Info(tensor); }

  static int64_t IntAttribute(const onnx::NodeProto& node, const char* name, int64_t otherwise) {
    const auto* attribute = FindAttribute(node, name);
    return attribute ? attribute->i() : otherwise;
  }

  // Concat of channels, some of them last.
  bool JoinsChannels(const onnx::NodeProto& node) const {
    if (!IsStandardDomain(node.domain()) || node.op_type() != "Concat") return false;
    const TensorInfo* result = Info(node.output(0));
    if (!result || result->rank() < 3 || result->type != onnx::TensorProto::FLOAT) return false;
    const int64_t axis = IntAttribute(node, "axis", 0);
    if ((axis < 0 ? axis + result->rank() : axis) != 1) return false;
    return std::ranges::any_of(node.input(), [&](const auto& input) { return IsOnlyLast(input); });
  }

  static void SetAxis(onnx::NodeProto& node, int64_t axis) {
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == "axis") attribute.set_i(axis);
  }

  // A sum or mean over all places of images that have channels last, which stay behind alone.
  bool ReducesImages(const onnx::NodeProto& node) const {
    if (!IsStandardDomain(node.domain()) || (node.op_type() != "ReduceMean" && node.op_type() != "ReduceSum"))
      return false;
    if (node.input_size() < 2 || !IsOnlyLast(node.input(0)) || IntAttribute(node, "keepdims", 1) != 0)
      return false;
    const auto axes = ints_.find(node.input(1));
    if (axes == ints_.end()) return false;
    const int64_t rank = Info(node.input(0))->rank();
    std::set<int64_t> reduced;
    for (const int64_t axis : axes->second) reduced.insert(axis < 0 ? axis + rank : axis);
    return std::ssize(reduced) == rank - 2 && !reduced.contains(0) && !reduced.contains(1);
  }

  // As a constant: the axes of the places with channels last.
  std::string SpatialAxes(const onnx::NodeProto& of) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type("Constant");
    node.set_name(of.output(0) + "/places");
    node.add_output(node.name());
    onnx::AttributeProto& values = *node.add_attribute();
    values.set_name("value_ints");
    values.set_type(onnx::AttributeProto::INTS);
    for (int64_t axis = 1; axis + 1 < Info(of.input(0))->rank(); ++axis) values.add_ints(axis);
    return node.name();
  }

  static bool IsTranspose(const onnx::NodeProto& node, const std::vector<int64_t>& permutation) {
    if (!IsStandardDomain(node.domain()) || node.op_type() != "Transpose") return false;
    const auto* given = FindAttribute(node, "perm");
    return given && std::ranges::equal(given->ints(), permutation);
  }

  // A Transpose to what is there already.
  bool TakesChannelsLast(const onnx::NodeProto& node) const {
    if (node.op_type() != "Transpose" || !IsOnlyLast(node.input(0))) return false;
    std::vector<int64_t> order = {0};
    for (int64_t axis = 2; axis < Info(node.input(0))->rank(); ++axis) order.push_back(axis);
    order.push_back(1);
    return IsTranspose(node, order);
  }

  // A Transpose of what is images with channels last by another name.
  bool GivesChannelsFirst(const onnx::NodeProto& node) const {
    const TensorInfo* info = has_images_ && node.op_type() == "Transpose" ? Info(node.input(0)) : nullptr;
    if (!info || info->rank() < 4 || info->type != onnx::TensorProto::FLOAT) return false;
    std::vector<int64_t> order = {0, info->rank() - 1};
    for (int64_t axis = 1; axis + 1 < info->rank(); ++axis) order.push_back(axis);
    return IsTranspose(node, order);
  }

  // The tensor's name with channels last.
  std::string Last(const std::string& tensor) {
    const auto found = last_.find(tensor);
    if (found != last_.end()) return found->second;
    Convert("ChannelsLast", tensor, ChannelsLastName(tensor));
    return last_[tensor] = ChannelsLastName(tensor);
  }

  void RequireFirst(const std::string& tensor) {
    if (only_last_.erase(tensor) > 0) Convert("ChannelsFirst", last_.at(tensor), tensor);
  }

  // For everything that a node reads, in its subgraphs too.
  void RequireFirst(const onnx::NodeProto& node) {
    for (const auto& input : node.input()) RequireFirst(input);
    for (const auto& attribute : node.attribute()) {
      for (const auto& inner : attribute.g().node()) RequireFirst(inner);
      for (const auto& output : attribute.g().output()) RequireFirst(output.name());
      for (const auto& body : attribute.graphs()) {
        for (const auto& inner : body.node()) RequireFirst(inner);
      }
    }
  }

  void Convert(const char* op, const std::string& from, const std::string& to) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type(op);
    node.set_domain(kCpuKernelDomain);
    node.set_name(to + "/" + op);
    node.add_input(from);
    node.add_output(to);
  }

  const TensorInfo* Info(const std::string& tensor) const {
    const auto info = infos_.find(tensor);
    return info != infos_.end() && info->second.has_rank ? &info->second : nullptr;
  }

  bool HasOneElement(const std::string& tensor) const {
    if (tensor.empty()) return true;
    const TensorInfo* info = Info(tensor);
    if (!info) return false;
    for (const Extent& extent : info->shape) {
      if (extent.value != 1) return false;
    }
    return true;
  }

  // Whether a node gets an image with channels last anyhow, and else only what can be had so too. Where it
  // broadcasts, it does so along the same axes in both layouts.
  bool CanBeLast(const onnx::NodeProto& node) const {
    if (node.output_size() != 1) return false;
    bool any_last = false;
    const TensorInfo* result = Info(node.output(0));
    for (const auto& input : node.input()) {
      if (HasOneElement(input)) continue;
      const TensorInfo* info = Info(input);
      if (!info || !result || info->rank() < 3 || info->rank() != result->rank() ||
          info->type != onnx::TensorProto::FLOAT)
        return false;
      any_last |= only_last_.count(input) > 0;
    }
    return any_last;
  }

  onnx::GraphProto& graph_;
  const TensorInfos& infos_;
  bool has_images_ = false;
  std::map<std::string, std::vector<int64_t>> ints_;  // constants
  std::map<std::string, std::string> last_;           // tensor -> its form with channels last
  std::set<std::string> only_last_;                   // tensors that do not exist as they were
};

}  // namespace

void UseChannelsLast(onnx::GraphProto& graph, const TensorInfos& infos) { LayoutPass(graph, infos).Run(); }

}  // namespace ort_ed
