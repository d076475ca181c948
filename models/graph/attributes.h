#pragma once

#include <string_view>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// The attribute of this name, or null.
inline const onnx::AttributeProto* FindAttribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

}  // namespace ort_ed
