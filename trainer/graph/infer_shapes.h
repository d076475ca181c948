#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// One extent of a tensor: a number, a symbol such as "batch", or neither when nothing is known.
struct Extent {
  int64_t value = -1;
  std::string symbol;

  bool known() const { return value >= 0; }
};

// Whether two extents are certainly equal.
bool SameExtent(const Extent& a, const Extent& b);

struct TensorInfo {
  int32_t type = onnx::TensorProto::UNDEFINED;
  bool has_rank = false;
  std::vector<Extent> shape;  // meaningful with has_rank

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool is_floating() const;
  // Number of extents that are not known.
  int unknown_extents() const;
};

using TensorInfos = std::unordered_map<std::string, TensorInfo>;

// Type and shape of every input, initialiser and node output of the main graph, as ONNX Runtime itself infers
// them; so operators newer than the linked onnx library are understood. Dynamic extents stay symbolic.
//
// Shapes that the graph computes at run time (exporters write x.view(x.size(0), -1) that way) are beyond such
// inference. Where a tensor that `output` depends on is left with an unknown rank or extent, that part of the
// graph is run for two batch sizes to find out; empty: never.
//
// Throws kBadModel with ONNX Runtime's complaint about a model that it does not accept.
TensorInfos InferShapes(const onnx::ModelProto& model, const std::string& output = "");

// The same in one session, for those who can do without the single numbers that nodes compute: these are left
// with an unknown rank.
TensorInfos InferShapesOfArrays(const onnx::ModelProto& model);

}  // namespace ort_ed
