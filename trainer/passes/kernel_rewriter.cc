#include "trainer/passes/kernel_rewriter.h"

#include <algorithm>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {

KernelRewriter::KernelRewriter(onnx::ModelProto& model, const TensorInfos& infos)
    : graph_(*model.mutable_graph()), names_(model), infos_(infos) {
  for (auto& node : *graph_.mutable_node()) {
    for (const auto& output : node.output()) producers_[output] = &node;
  }
  for (const auto& output : graph_.output()) ++uses_[output.name()];
  CountUses(graph_);
}

bool KernelRewriter::IsStandard(const onnx::NodeProto& node) { return IsStandardDomain(node.domain()); }

int64_t KernelRewriter::IntAttribute(const onnx::NodeProto& node, const std::string& name,
                                     int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

float KernelRewriter::FloatAttribute(const onnx::NodeProto& node, const std::string& name, float otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

std::vector<int64_t> KernelRewriter::IntsAttribute(const onnx::NodeProto& node, const std::string& name,
                                                   std::vector<int64_t> otherwise) {
  const auto* attribute = FindAttribute(node, name);
  if (!attribute) return otherwise;
  return {attribute->ints().begin(), attribute->ints().end()};
}

void KernelRewriter::AddInts(onnx::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
}

void KernelRewriter::AddInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void KernelRewriter::AddFloat(onnx::NodeProto& node, const std::string& name, float value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

const onnx::NodeProto* KernelRewriter::Producer(const std::string& tensor, const char* op, bool ours) const {
  const auto found = producers_.find(tensor);
  if (found == producers_.end() || found->second->op_type() != op) return nullptr;
  return IsStandard(*found->second) != ours ? found->second : nullptr;
}

const TensorInfo* KernelRewriter::FloatTensor(const std::string& tensor, int64_t rank) const {
  const auto info = infos_.find(tensor);
  if (info == infos_.end() || info->second.type != onnx::TensorProto::FLOAT || !info->second.has_rank) {
    return nullptr;
  }
  return rank < 0 || info->second.rank() == rank ? &info->second : nullptr;
}

bool KernelRewriter::IsVectorAlong(const std::string& tensor, int64_t extent, int64_t ones_behind) const {
  const TensorInfo* info = FloatTensor(tensor, -1);
  if (!info || info->rank() <= ones_behind) return false;
  const int64_t axis = info->rank() - 1 - ones_behind;
  for (int64_t i = 0; i < info->rank(); ++i)
    if (info->shape[i].value != (i == axis ? extent : 1)) return false;
  return true;
}

const onnx::TensorProto* KernelRewriter::Initialiser(const std::string& tensor) const {
  const auto& all = graph_.initializer();
  const auto found = std::ranges::find(all, tensor, [](const auto& one) { return one.name(); });
  return found == all.end() ? nullptr : &*found;
}

bool KernelRewriter::IsUsedOnce(const std::string& tensor) const {
  const auto found = uses_.find(tensor);
  return found != uses_.end() && found->second == 1;
}

onnx::NodeProto* KernelRewriter::OnlyReader(const std::string& tensor, const char* op) {
  if (!IsUsedOnce(tensor)) return nullptr;
  for (auto& node : *graph_.mutable_node()) {
    if (std::ranges::find(node.input(), tensor) == node.input().end()) continue;
    return node.op_type() == op && IsStandard(node) ? &node : nullptr;
  }
  return nullptr;
}

void KernelRewriter::Replace(onnx::NodeProto& node, const char* op, const std::vector<std::string>& inputs) {
  for (const auto& input : inputs) ++uses_[input];
  for (const auto& input : node.input()) Release(input);
  node.set_op_type(op);
  node.set_domain(kCpuKernelDomain);
  node.clear_attribute();
  node.clear_input();
  for (const auto& input : inputs) node.add_input(input);
}

onnx::NodeProto& KernelRewriter::Prepend(const char* op, const std::vector<std::string>& inputs,
                                         const std::string& output) {
  onnx::NodeProto& node = prepended_.emplace_back();
  node.set_op_type(op);
  node.set_name(output);
  for (const auto& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void KernelRewriter::RemoveUnused() {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (onnx::NodeProto& node : prepended_) *kept.Add() = std::move(node);
  prepended_.clear();
  for (auto& node : *graph_.mutable_node()) {
    if (unused_.count(&node) == 0) kept.Add()->Swap(&node);
  }
  graph_.mutable_node()->Swap(&kept);
}

void KernelRewriter::CountUses(const onnx::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    for (const auto& input : node.input()) ++uses_[input];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) CountUses(attribute.g());
      for (const auto& body : attribute.graphs()) CountUses(body);
    }
  }
}

void KernelRewriter::Release(const std::string& tensor) {
  if (--uses_[tensor] > 0) return;
  const auto producer = producers_.find(tensor);
  if (producer == producers_.end() || producer->second->output_size() != 1) return;
  if (!unused_.insert(producer->second).second) return;
  for (const auto& input : producer->second->input()) Release(input);
}

}  // namespace ort_ed
