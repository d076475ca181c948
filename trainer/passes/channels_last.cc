#include "trainer/passes/channels_last.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/graph/standard_domain.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

bool IsOurs(const onnx::NodeProto& node, const char* op) {
  return node.domain() == kCpuKernelDomain && node.op_type() == op;
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
  return IsOurs(node, "Swish");
}

// Walks through the graph in order and copies it. A tensor exists as it was, or with channels last, or both;
// the first to need a form that does not exist makes it.
class LayoutPass {
 public:
  LayoutPass(onnx::GraphProto& graph, const TensorInfos& infos) : graph_(graph), infos_(infos) {}

  void Run() {
    NodeList nodes;
    nodes.Swap(graph_.mutable_node());
    for (onnx::NodeProto& node : nodes) {
      if (IsOurs(node, "Conv")) {
        node.set_input(0, Last(node.input(0)));
        MakeLast(node);
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
    for (const auto& input : node.input()) {
      if (HasOneElement(input)) continue;
      const TensorInfo* info = Info(input);
      if (!info || info->rank() != 4 || info->type != onnx::TensorProto::FLOAT) return false;
      any_last |= only_last_.count(input) > 0;
    }
    return any_last;
  }

  onnx::GraphProto& graph_;
  const TensorInfos& infos_;
  std::map<std::string, std::string> last_;  // tensor -> its form with channels last
  std::set<std::string> only_last_;          // tensors that do not exist as they were
};

}  // namespace

void UseChannelsLast(onnx::GraphProto& graph, const TensorInfos& infos) { LayoutPass(graph, infos).Run(); }

}  // namespace ort_ed
