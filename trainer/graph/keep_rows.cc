#include "trainer/graph/keep_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "models/graph/graph_builder.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {
namespace {

bool TakesAll(const onnx::NodeProto& node) {
  return node.op_type() == "Squeeze" && IsStandardDomain(node.domain()) &&
         (node.input_size() < 2 || node.input(1).empty());
}

// The axes of extent 1, if there is another axis that may come to have it.
std::vector<int64_t> FixedOnes(const TensorInfo& info) {
  std::vector<int64_t> ones;
  if (!info.has_rank || info.unknown_extents() == 0) return ones;
  for (int64_t axis = 0; axis < info.rank(); ++axis)
    if (info.shape[axis].value == 1) ones.push_back(axis);
  return ones;
}

}  // namespace

void KeepRows(onnx::ModelProto& model) {
  if (std::ranges::none_of(model.graph().node(), TakesAll)) return;
  const TensorInfos infos = InferShapes(model, model.graph().output(0).name());
  GraphBuilder builder(model, "ort_ed_rows/");
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(builder.graph().mutable_node());
  for (onnx::NodeProto& node : nodes) {
    const auto info = TakesAll(node) ? infos.find(node.input(0)) : infos.end();
    const std::vector<int64_t> ones = info == infos.end() ? std::vector<int64_t>() : FixedOnes(info->second);
    if (!ones.empty()) {
      while (node.input_size() < 2) node.add_input("");
      node.set_input(1, builder.Ints(ones).name);
    }
    *builder.graph().add_node() = node;
  }
}

}  // namespace ort_ed
