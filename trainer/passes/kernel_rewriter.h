#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// What the passes that put our own operators in place of standard ones have in common: who makes a tensor,
// who uses it, and nodes that nobody needs any more.
class KernelRewriter {
 public:
  // `infos`: of all tensors of the model; they outlive this object.
  KernelRewriter(onnx::ModelProto& model, const TensorInfos& infos);

 protected:
  static bool IsStandard(const onnx::NodeProto& node);
  static int64_t IntAttribute(const onnx::NodeProto& node, const std::string& name, int64_t otherwise);
  static float FloatAttribute(const onnx::NodeProto& node, const std::string& name, float otherwise);
  static std::vector<int64_t> IntsAttribute(const onnx::NodeProto& node, const std::string& name,
                                            std::vector<int64_t> otherwise);
  static void AddInt(onnx::NodeProto& node, const std::string& name, int64_t value);
  static void AddInts(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);
  static void AddFloat(onnx::NodeProto& node, const std::string& name, float value);

  // The node that makes the tensor, if it is this operator: a standard one unless it is said to be ours.
  const onnx::NodeProto* Producer(const std::string& tensor, const char* op, bool ours = false) const;
  // Its type and shape if it is of floats and of this rank (-1: any); else null.
  const TensorInfo* FloatTensor(const std::string& tensor, int64_t rank) const;
  // Whether a tensor's extents are [1 ..., this extent, 1 ...] with so many ones behind it.
  bool IsVectorAlong(const std::string& tensor, int64_t extent, int64_t ones_behind) const;
  // The initialiser, or null.
  const onnx::TensorProto* Initialiser(const std::string& tensor) const;
  bool IsUsedOnce(const std::string& tensor) const;
  // The one node that reads the tensor, if there is one and it is this standard operator.
  onnx::NodeProto* OnlyReader(const std::string& tensor, const char* op);

  // Makes the node one of ours, with these inputs and without attributes.
  void Replace(onnx::NodeProto& node, const char* op, const std::vector<std::string>& inputs);
  // A standard node that comes before all others; the reference is good until the next one.
  onnx::NodeProto& Prepend(const char* op, const std::vector<std::string>& inputs, const std::string& output);
  // To be called at the end.
  void RemoveUnused();

  onnx::GraphProto& graph_;
  GraphNames names_;
  const TensorInfos& infos_;

 private:
  void CountUses(const onnx::GraphProto& graph);
  // One use less; what nobody uses any more is removed with what only it used.
  void Release(const std::string& tensor);

  std::map<std::string, const onnx::NodeProto*> producers_;
  std::map<std::string, int> uses_;
  std::set<const onnx::NodeProto*> unused_;
  std::vector<onnx::NodeProto> prepended_;
};

}  // namespace ort_ed
