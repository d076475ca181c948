#include "trainer/passes/use_row_kernels.h"

#include "models/graph/attributes.h"
#include "trainer/passes/kernel_rewriter.h"

namespace ort_ed {
namespace {

class RowRewriter : public KernelRewriter {
 public:
  using KernelRewriter::KernelRewriter;

  bool Run() {
    bool changed = false;
    for (auto& node : *graph_.mutable_node()) {
      if (!IsStandard(node)) continue;
      const std::string& op = node.op_type();
      changed |= op == "LayerNormalization" ? ReplaceLayerNormalization(node)
                 : op == "Gelu"             ? ReplaceGelu(node)
                 : op == "Relu"             ? ReplaceRelu(node)
                 : op == "MatMul"           ? ReplaceAttention(node)
                                            : false;
    }
    for (auto& node : *graph_.mutable_node())
      if (IsStandard(node) && node.op_type() == "MatMul") changed |= ReplaceMatMul(node);
    RemoveUnused();
    return changed;
  }

 private:
  bool ReplaceLayerNormalization(onnx::NodeProto& node) {
    const TensorInfo *x = FloatTensor(node.input(0), -1), *scale = FloatTensor(node.input(1), 1);
    if (!x || !scale || node.output_size() != 1) return false;
    const int64_t axis = IntAttribute(node, "axis", -1);
    if ((axis < 0 ? axis + x->rank() : axis) != x->rank() - 1) return false;
    if (x->shape.back().value < 1 || scale->shape[0].value != x->shape.back().value) return false;
    const bool biased = node.input_size() > 2 && !node.input(2).empty();
    if (biased && !IsVectorAlong(node.input(2), x->shape.back().value, 0)) return false;
    const float epsilon = FloatAttribute(node, "epsilon", 1e-5f);
    Replace(node, "LayerNorm", {node.input().begin(), node.input().end()});
    AddFloat(node, "epsilon", epsilon);
    return true;
  }

  bool ReplaceGelu(onnx::NodeProto& node) {
    const auto* approximate = FindAttribute(node, "approximate");
    if (!FloatTensor(node.input(0), -1) || (approximate && approximate->s() != "none")) return false;
    Replace(node, "Gelu", {node.input(0)});
    return true;
  }

  bool ReplaceRelu(onnx::NodeProto& node) {
    if (!FloatTensor(node.input(0), -1)) return false;
    Replace(node, "Relu", {node.input(0)});
    return true;
  }

  // Whether two tensors are equally many matrices side by side.
  bool AreSideBySide(const std::string& a_name, const std::string& b_name) const {
    const TensorInfo *a = FloatTensor(a_name, -1), *b = FloatTensor(b_name, -1);
    if (!a || !b || a->rank() < 3 || b->rank() != a->rank()) return false;
    for (int64_t axis = 0; axis + 2 < a->rank(); ++axis)
      if (!SameExtent(a->shape[axis], b->shape[axis])) return false;
    return true;
  }

  // MatMul(Softmax(MatMul(a, b)), v), where nobody else reads what is between.
  bool ReplaceAttention(onnx::NodeProto& node) {
    const std::string p = node.input(0), v = node.input(1);
    const onnx::NodeProto* softmax = Producer(p, "Softmax");
    const onnx::NodeProto* scores = softmax ? Producer(softmax->input(0), "MatMul") : nullptr;
    if (!scores || !IsUsedOnce(p) || !IsUsedOnce(softmax->input(0))) return false;
    const std::string a = scores->input(0), b = scores->input(1);
    const TensorInfo* shares = FloatTensor(p, -1);
    if (!shares || !AreSideBySide(a, b) || !AreSideBySide(a, v)) return false;
    const int64_t axis = IntAttribute(*softmax, "axis", -1);
    if ((axis < 0 ? axis + shares->rank() : axis) != shares->rank() - 1) return false;
    Replace(node, "Attention", {a, b, v});
    node.add_output(names_.Fresh(node.output(0) + "/shares"));
    return true;
  }

  bool ReplaceMatMul(onnx::NodeProto& node) {
    const std::string a = node.input(0), b = node.input(1);
    const TensorInfo *left = FloatTensor(a, -1), *right = FloatTensor(b, -1);
    if (!left || !right) return false;
    const bool shared = left->rank() == 2 && right->rank() >= 3;
    if (!shared && !AreSideBySide(a, b)) return false;
    Replace(node, "MatMuls", {a, b});
    AddInt(node, "trans_a", 0);
    AddInt(node, "trans_b", 0);
    return true;
  }
};

}  // namespace

bool UseRowKernels(onnx::ModelProto& model, const TensorInfos& infos) {
  return RowRewriter(model, infos).Run();
}

}  // namespace ort_ed
