#include "trainer/passes/use_cpu_kernels.h"

#include <set>
#include <string>
#include <vector>

#include "trainer/kernels/ops/cpu_kernel_domain.h"
#include "trainer/passes/channels_last.h"
#include "trainer/passes/kernel_rewriter.h"
#include "trainer/passes/use_image_kernels.h"
#include "trainer/passes/use_row_kernels.h"

namespace ort_ed {
namespace {

// A narrower layer does not fill the registers' tile, unless it has just one output; ONNX Runtime's own
// kernels are as good there.
constexpr int64_t kNarrowest = 8;

// Dense layers and Swish.
class Rewriter : public KernelRewriter {
 public:
  using KernelRewriter::KernelRewriter;

  // Whether anything was replaced.
  bool Run() {
    bool changed = false;
    for (auto& node : *graph_.mutable_node()) {
      if (!IsStandard(node) || node.output_size() != 1) continue;
      changed |= node.op_type() == "Mul"    ? ReplaceSwish(node)
                 : node.op_type() == "Gemm" ? ReplaceGemm(node)
                 : node.op_type() == "MatMul" && !FeedsBias(node)
                     ? ReplaceMatMul(node, node.input(0), node.input(1), "")
                 : node.op_type() == "Add" ? ReplaceMatMulAdd(node)
                                           : false;
    }
    for (auto& node : *graph_.mutable_node()) {
      if (node.domain() == kCpuKernelDomain && node.op_type() == "Swish") FuseDenseSwish(node);
    }
    RemoveUnused();
    return changed;
  }

 private:
  bool IsSlope(const std::string& tensor, const TensorInfo& x) const {
    const TensorInfo* info = FloatTensor(tensor, -1);
    if (!info || info->rank() > x.rank()) return false;
    for (const Extent& extent : info->shape) {
      if (extent.value != 1) return false;
    }
    return true;
  }

  // x * Sigmoid(z), where z is x or slope * x, with the factors in any order.
  bool ReplaceSwish(onnx::NodeProto& node) {
    for (int i : {0, 1}) {
      const std::string x = node.input(i);
      const onnx::NodeProto* sigmoid = Producer(node.input(1 - i), "Sigmoid");
      const TensorInfo* info = FloatTensor(x, -1);
      if (!sigmoid || !info) continue;
      const std::string z = sigmoid->input(0);
      if (z == x) {
        Replace(node, "Swish", {x});
        return true;
      }
      const onnx::NodeProto* product = Producer(z, "Mul");
      for (int j : {0, 1}) {
        if (product && product->input(j) == x && IsSlope(product->input(1 - j), *info)) {
          Replace(node, "Swish", {x, product->input(1 - j)});
          return true;
        }
      }
    }
    return false;
  }

  // Whether a dense layer with these operands is worth a replacement; bias may be "".
  bool IsDense(const std::string& x_name, const std::string& w_name, const std::string& bias_name,
               bool transposed) const {
    const TensorInfo *x = FloatTensor(x_name, -1), *w = FloatTensor(w_name, 2);
    if (!x || !w || x->rank() < 2) return false;
    const int64_t in = w->shape[transposed ? 1 : 0].value, out = w->shape[transposed ? 0 : 1].value;
    if (out != 1 && (in < kNarrowest || out < kNarrowest)) return false;
    if (bias_name.empty()) return true;
    const TensorInfo* bias = FloatTensor(bias_name, 1);
    return bias && bias->shape[0].value == w->shape[transposed ? 0 : 1].value;
  }

  bool ReplaceGemm(onnx::NodeProto& node) {
    const std::string bias = node.input_size() > 2 ? node.input(2) : "";
    const bool transposed = IntAttribute(node, "transB", 0) != 0;
    const bool plain = IntAttribute(node, "transA", 0) == 0 && FloatAttribute(node, "alpha", 1) == 1 &&
                       (bias.empty() || FloatAttribute(node, "beta", 1) == 1);
    if (!plain || !IsDense(node.input(0), node.input(1), bias, transposed)) return false;
    ReplaceByDense(node, node.input(0), node.input(1), bias, transposed);
    return true;
  }

  bool ReplaceMatMul(onnx::NodeProto& node, const std::string& x, const std::string& w,
                     const std::string& bias) {
    // Products with one vector are slow in ONNX Runtime, however short it is.
    const bool by_vector = bias.empty() && FloatTensor(x, 2) && FloatTensor(w, 1);
    if (!by_vector && !IsDense(x, w, bias, false)) return false;
    ReplaceByDense(node, x, w, bias, false);
    return true;
  }

  // MatMul(x, w) + bias, in any order, where nobody else wants the product.
  bool ReplaceMatMulAdd(onnx::NodeProto& node) {
    for (int i : {0, 1}) {
      const onnx::NodeProto* product = Producer(node.input(i), "MatMul");
      if (!product || !IsUsedOnce(product->output(0))) continue;
      if (ReplaceMatMul(node, product->input(0), product->input(1), node.input(1 - i))) return true;
    }
    return false;
  }

  // Whether ReplaceMatMulAdd() will take this MatMul.
  bool FeedsBias(const onnx::NodeProto& product) const {
    if (!IsUsedOnce(product.output(0))) return false;
    for (const auto& node : graph_.node()) {
      if (node.op_type() != "Add" || !IsStandard(node)) continue;
      for (int i : {0, 1}) {
        if (node.input(i) == product.output(0)) {
          return IsDense(product.input(0), product.input(1), node.input(1 - i), false);
        }
      }
    }
    return false;
  }

  void ReplaceByDense(onnx::NodeProto& node, std::string x, std::string w, std::string bias,
                      bool transposed) {
    std::vector<std::string> inputs = {std::move(x), std::move(w)};
    if (!bias.empty()) inputs.push_back(std::move(bias));
    Replace(node, "Dense", inputs);
    AddInt(node, "trans_w", transposed);
  }

  // Swish of a dense layer whose result nobody else wants.
  void FuseDenseSwish(onnx::NodeProto& swish) {
    const onnx::NodeProto* dense = Producer(swish.input(0), "Dense", true);
    if (!dense || !IsUsedOnce(swish.input(0))) return;
    std::vector<std::string> inputs(dense->input().begin(), dense->input().end());
    if (swish.input_size() > 1) {
      inputs.resize(3);  // without bias: ""
      inputs.push_back(swish.input(1));
    }
    const int64_t transposed = IntAttribute(*dense, "trans_w", 0);
    Replace(swish, "DenseSwish", inputs);
    AddInt(swish, "trans_w", transposed);
    swish.add_output(names_.Fresh(swish.output(0) + "/sigmoid"));
  }
};

}  // namespace

void UseCpuKernels(onnx::ModelProto& model) {
  // An energy model has one input, for which shapes that are computed at run time can be found out.
  const onnx::GraphProto& graph = model.graph();
  const bool is_energy = graph.input_size() == 1 && graph.output_size() == 1;
  const TensorInfos infos = InferShapes(model, is_energy ? graph.output(0).name() : "");
  // Each looks for patterns of standard operators that the others leave alone.
  bool changed = UseImageKernels(model, infos);
  changed |= UseRowKernels(model, infos);
  changed |= Rewriter(model, infos).Run();
  if (!changed) return;
  UseChannelsLast(*model.mutable_graph(), infos);
  ImportCpuKernels(model);
}

void ImportCpuKernels(onnx::ModelProto& model) {
  for (const auto& opset : model.opset_import()) {
    if (opset.domain() == kCpuKernelDomain) return;
  }
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(kCpuKernelDomain);
  opset.set_version(kCpuKernelVersion);
}

}  // namespace ort_ed
