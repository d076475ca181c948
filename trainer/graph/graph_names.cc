#include "trainer/graph/graph_names.h"

namespace ort_ed {
namespace {

void CollectReads(const onnx::NodeProto& node, std::vector<std::string>& reads) {
  reads.insert(reads.end(), node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    for (const auto& inner : attribute.g().node()) CollectReads(inner, reads);
    for (const auto& output : attribute.g().output()) reads.push_back(output.name());
  }
}

}  // namespace

std::vector<std::string> TensorsRead(const onnx::NodeProto& node) {
  std::vector<std::string> reads;
  CollectReads(node, reads);
  return reads;
}

GraphNames::GraphNames(const onnx::ModelProto& model) {
  Collect(model.graph());
  for (const auto& function : model.functions()) {
    for (const auto& node : function.node()) Collect(node);
  }
}

void GraphNames::Collect(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) names_.insert(input.name());
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
  for (const auto& node : graph.node()) Collect(node);
}

void GraphNames::Collect(const onnx::NodeProto& node) {
  names_.insert(node.name());
  names_.insert(node.input().begin(), node.input().end());
  names_.insert(node.output().begin(), node.output().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) Collect(attribute.g());
  }
}

std::string GraphNames::Fresh(const std::string& stem) {
  std::string name = stem;
  for (int suffix = 1; !names_.insert(name).second; ++suffix) name = stem + "_" + std::to_string(suffix);
  return name;
}

std::string DescribeNode(const onnx::NodeProto& node) {
  std::string name = node.name();
  for (const auto& output : node.output()) {
    if (name.empty()) name = output;
  }
  const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
  return "node '" + name + "' (" + domain + node.op_type() + ")";
}

}  // namespace ort_ed
