#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// Nodes of opset 13 and newer for those who rewrite a list of nodes rather than append to a graph.
using RawNodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

onnx::NodeProto& AddNode(RawNodes& nodes, const std::string& op, const std::vector<std::string>& inputs,
                         const std::string& output);
void SetInt(onnx::NodeProto& node, const std::string& attribute, int64_t value);
// Of int64 or bool.
void AddConstant(RawNodes& nodes, int32_t type, const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& values, const std::string& output);

int64_t IntAttributeOr(const onnx::NodeProto& node, std::string_view name, int64_t otherwise);

// The extent of a tensor along an axis, which counts from the end where negative; -1 where it is not known.
int64_t KnownExtent(const TensorInfos& infos, const std::string& tensor, int64_t axis);

// New names for tensors. Of a node: what it reads and makes, and what the graphs within it see of that.
using Renaming = std::map<std::string, std::string>;
void Rename(std::string& tensor, const Renaming& renaming);
void Rename(onnx::NodeProto& node, const Renaming& renaming);

}  // namespace ort_ed
