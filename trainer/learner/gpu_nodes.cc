#include "trainer/learner/gpu_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "runtime/placement.h"

namespace ort_ed {
namespace {

const onnx::AttributeProto* FindAttribute(const onnx::NodeProto& node, const char* name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

int64_t Integer(const onnx::NodeProto& node, const char* name, int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

bool HasExtents(const onnx::NodeProto& node, int extents) {
  for (const char* name : {"kernel_shape", "strides", "dilations"})
    if (const auto* attribute = FindAttribute(node, name)) return attribute->ints_size() == extents;
  const auto* pads = FindAttribute(node, "pads");
  return pads != nullptr && pads->ints_size() == 2 * extents;
}

// What ONNX Runtime 1.30 refuses when it runs the node, or gets wrong; tests/devices/kernels finds them.
bool IsBadOnWebGpu(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (op == "MaxPool") return node.output_size() > 1;
  if (op == "Conv") return Integer(node, "group", 1) > 1 && HasExtents(node, 3);
  if (op == "ConvTranspose" || op == "AveragePool") return HasExtents(node, 3);
  if (op == "Resize") return Integer(node, "antialias", 0) != 0;
  if (op.starts_with("Reduce")) return Integer(node, "noop_with_empty_axes", 0) != 0;
  const auto* equation = op == "Einsum" ? FindAttribute(node, "equation") : nullptr;
  return equation != nullptr && equation->s().find("...") != std::string::npos;
}

// Where they are on the CPU, they compute extents and indices: for anything else devices have them.
bool IsOfExtents(const std::string& op) {
  static const std::set<std::string> ops = {"Add",       "Cast",     "Concat", "Constant",  "ConstantOfShape",
                                            "Div",       "Equal",    "Expand", "Floor",     "Gather",
                                            "Greater",   "Identity", "Less",   "Max",       "Min",
                                            "Mul",       "Neg",      "Not",    "Range",     "ReduceProd",
                                            "ReduceSum", "Reshape",  "Shape",  "Slice",     "Size",
                                            "Split",     "Squeeze",  "Sub",    "Unsqueeze", "Where"};
  return ops.contains(op);
}

}  // namespace

Device WithoutBadNodes(const Device& device, onnx::ModelProto& model) {
  if (device.provider != "webgpu") return device;
  std::string names;
  int number = 0;
  for (auto& node : *model.mutable_graph()->mutable_node()) {
    if (!IsBadOnWebGpu(node)) continue;
    if (node.name().empty()) node.set_name("ort_ed.on_cpu." + std::to_string(number++));
    names += node.name() + "\n";
  }
  Device changed = device;
  if (!names.empty()) changed.options["forceCpuNodeNames"] += names;
  return changed;
}

std::string OperatorsOnCpu(const Device& device, const onnx::ModelProto& model) {
  if (device.provider == "cpu") return "";
  onnx::ModelProto named = model;
  const Device changed = WithoutBadNodes(device, named);
  const std::string bytes = named.SerializeAsString();
  std::map<std::string, int> counts;
  for (const PlacedNode& node : NodesOnCpu(std::as_bytes(std::span(bytes)), changed))
    if (!IsOfExtents(node.op)) ++counts[node.op];
  std::string text;
  for (const auto& [op, count] : counts) {
    text += (text.empty() ? "" : ", ") + op;
    if (count > 1) text += " (" + std::to_string(count) + ")";
  }
  return text;
}

}  // namespace ort_ed
