#include "trainer/passes/use_cpu_kernels.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"
#include "trainer/passes/channels_last.h"

namespace ort_ed {
namespace {

// A narrower layer does not fill the registers' tile, unless it has just one output; ONNX Runtime's own
// kernels are as good there.
constexpr int64_t kNarrowest = 8;

int64_t IntAttribute(const onnx::NodeProto& node, const std::string& name, int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

float FloatAttribute(const onnx::NodeProto& node, const std::string& name, float otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

std::vector<int64_t> IntsAttribute(const onnx::NodeProto& node, const std::string& name,
                                   std::vector<int64_t> otherwise) {
  const auto* attribute = FindAttribute(node, name);
  if (!attribute) return otherwise;
  return {attribute->ints().begin(), attribute->ints().end()};
}

void AddInts(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
}

void AddInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

class Rewriter {
 public:
  explicit Rewriter(onnx::ModelProto& model)
      : graph_(*model.mutable_graph()), names_(model), infos_(InferShapes(model)) {
    for (auto& node : *graph_.mutable_node()) {
      for (const auto& output : node.output()) producers_[output] = &node;
    }
    for (const auto& output : graph_.output()) ++uses_[output.name()];
    CountUses(graph_);
  }

  // Whether anything was replaced.
  bool Run() {
    bool changed = false;
    for (auto& node : *graph_.mutable_node()) {
      if (!IsStandard(node) || node.output_size() != 1) continue;
      changed |= node.op_type() == "Mul"    ? ReplaceSwish(node)
                 : node.op_type() == "Conv" ? ReplaceConv(node)
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
    if (changed) UseChannelsLast(graph_, infos_);
    return changed;
  }

 private:
  static bool IsStandard(const onnx::NodeProto& node) { return IsStandardDomain(node.domain()); }

  void CountUses(const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) {
      for (const auto& input : node.input()) ++uses_[input];
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) CountUses(attribute.g());
        for (const auto& body : attribute.graphs()) CountUses(body);
      }
    }
  }

  // The node that makes the tensor, if it is this operator: a standard one unless it is said to be ours.
  const onnx::NodeProto* Producer(const std::string& tensor, const char* op, bool ours = false) const {
    const auto found = producers_.find(tensor);
    if (found == producers_.end() || found->second->op_type() != op) return nullptr;
    return IsStandard(*found->second) != ours ? found->second : nullptr;
  }

  const TensorInfo* FloatTensor(const std::string& tensor, int64_t rank) const {
    const auto info = infos_.find(tensor);
    if (info == infos_.end() || info->second.type != onnx::TensorProto::FLOAT || !info->second.has_rank) {
      return nullptr;
    }
    return rank < 0 || info->second.rank() == rank ? &info->second : nullptr;
  }

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

  bool ReplaceConv(onnx::NodeProto& node) {
    const TensorInfo *x = FloatTensor(node.input(0), 4), *w = FloatTensor(node.input(1), 4);
    if (!x || !w || (w->shape[0].value < kNarrowest && w->shape[0].value != 1) || x->shape[2].value < 1 ||
        x->shape[3].value < 1)
      return false;
    if (IntAttribute(node, "group", 1) != 1) return false;
    const auto* auto_pad = FindAttribute(node, "auto_pad");
    if (auto_pad && auto_pad->s() != "NOTSET" && auto_pad->s() != "VALID") return false;
    const auto strides = IntsAttribute(node, "strides", {1, 1});
    const auto pads = IntsAttribute(node, "pads", {0, 0, 0, 0});
    const auto dilations = IntsAttribute(node, "dilations", {1, 1});
    Replace(node, "Conv", {node.input().begin(), node.input().end()});
    AddInts(node, "strides", strides);
    AddInts(node, "pads", pads);
    AddInts(node, "dilations", dilations);
    return true;
  }

  // Whether a dense layer with these operands is worth a replacement; bias may be "".
  bool IsDense(const std::string& x_name, const std::string& w_name, const std::string& bias_name,
               bool transposed) const {
    const TensorInfo *x = FloatTensor(x_name, 2), *w = FloatTensor(w_name, 2);
    if (!x || !w) return false;
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
      if (!product || uses_[product->output(0)] != 1) continue;
      if (ReplaceMatMul(node, product->input(0), product->input(1), node.input(1 - i))) return true;
    }
    return false;
  }

  // Whether ReplaceMatMulAdd() will take this MatMul.
  bool FeedsBias(const onnx::NodeProto& product) {
    if (uses_[product.output(0)] != 1) return false;
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
    if (!dense || uses_[swish.input(0)] != 1) return;
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

  void Replace(onnx::NodeProto& node, const char* op, const std::vector<std::string>& inputs) {
    for (const auto& input : inputs) ++uses_[input];
    for (const auto& input : node.input()) Release(input);
    node.set_op_type(op);
    node.set_domain(kCpuKernelDomain);
    node.clear_attribute();
    node.clear_input();
    for (const auto& input : inputs) node.add_input(input);
  }

  // One use less; what nobody uses any more is removed with what only it used.
  void Release(const std::string& tensor) {
    if (--uses_[tensor] > 0) return;
    const auto producer = producers_.find(tensor);
    if (producer == producers_.end() || producer->second->output_size() != 1) return;
    if (!unused_.insert(producer->second).second) return;
    for (const auto& input : producer->second->input()) Release(input);
  }

  void RemoveUnused() {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (auto& node : *graph_.mutable_node()) {
      if (unused_.count(&node) == 0) kept.Add()->Swap(&node);
    }
    graph_.mutable_node()->Swap(&kept);
  }

  onnx::GraphProto& graph_;
  GraphNames names_;
  const TensorInfos infos_;
  std::map<std::string, const onnx::NodeProto*> producers_;
  std::map<std::string, int> uses_;
  std::set<const onnx::NodeProto*> unused_;
};

}  // namespace

void UseCpuKernels(onnx::ModelProto& model) {
  if (Rewriter(model).Run()) ImportCpuKernels(model);
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
