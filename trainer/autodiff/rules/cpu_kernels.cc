// Operators of our own domain, which UseCpuKernels() puts in place of standard ones: their gradients are our
// own kernels as well.
#include <array>

#include "trainer/autodiff/rules.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

std::vector<Value> KernelNode(GradContext& node, const char* op, const std::vector<Value>& inputs,
                              int outputs, const Attributes& attributes = {}) {
  return node.graph().NodeWithOutputs(op, inputs, outputs, attributes, kCpuKernelDomain);
}

// The gradients of a dense layer's inputs 0, 1, ... by one kernel; those that nobody needs are left out.
std::vector<Value> DenseGradients(GradContext& node, const char* op, const std::vector<Value>& operands,
                                  int inputs) {
  const Attributes attributes = {{"trans_w", node.Int("trans_w", 0)}};
  const std::vector<Value> gradients = KernelNode(node, op, operands, inputs, attributes);
  onnx::GraphProto& graph = node.graph().graph();
  onnx::NodeProto& made = *graph.mutable_node(graph.node_size() - 1);
  for (int i = 0; i < inputs; ++i) {
    if (!node.Needs(i)) made.set_output(i, "");
  }
  for (int i = 0; i < 3; ++i) {
    if (node.Needs(i)) node.SetGradient(i, gradients[i]);
  }
  return gradients;
}

// The gradients of weights (input 1) and bias (input 2), which one kernel computes together.
void SetWeightGradients(GradContext& node, const char* op, std::initializer_list<Value> inputs,
                        const Attributes& attributes) {
  if (!node.Needs(1) && !node.Needs(2)) return;
  const std::vector<Value> gradients = KernelNode(node, op, inputs, node.Needs(2) ? 2 : 1, attributes);
  if (node.Needs(1)) node.SetGradient(1, gradients[0]);
  if (node.Needs(2)) node.SetGradient(2, gradients[1]);
}

// A gradient that is [1], whatever the shape of the one element of input i.
void SetGradientOfNumber(GradContext& node, int i, const Value& gradient) {
  if (node.Needs(i)) node.SetGradient(i, node.ReshapeToInput(gradient, i));
}

void Swish(GradContext& node) {
  const Value x = node.Input(0), g = node.OutputGradient();
  if (!node.HasInput(1)) return node.SetGradient(0, KernelNode(node, "SwishGrad", {x, g}, 1)[0]);
  const std::vector<Value> gradients = KernelNode(node, "SwishGrad", {x, g, node.Input(1)}, 2);
  if (node.Needs(0)) node.SetGradient(0, gradients[0]);
  SetGradientOfNumber(node, 1, gradients[1]);
}

void Dense(GradContext& node) {
  DenseGradients(node, "DenseGrad", {node.Input(0), node.Input(1), node.OutputGradient()}, 3);
}

void DenseSwish(GradContext& node) {
  std::vector<Value> operands = {node.Input(0), node.Input(1), node.OutputGradient(), node.Output(0),
                                 node.Output(1)};
  if (node.HasInput(3)) operands.push_back(node.Input(3));
  SetGradientOfNumber(node, 3, DenseGradients(node, "DenseSwishGrad", operands, 4)[3]);
}

Attributes WindowOf(const GradContext& node) {
  return {
      {"strides", node.Ints("strides")}, {"pads", node.Ints("pads")}, {"dilations", node.Ints("dilations")}};
}

Attributes ConvAttributesOf(const GradContext& node) {
  Attributes attributes = WindowOf(node);
  attributes["group"] = node.Int("group", 1);
  return attributes;
}

void Conv(GradContext& node) {
  const Value x = node.Input(0), w = node.Input(1), g = node.OutputGradient();
  const Attributes attributes = ConvAttributesOf(node);
  if (node.Needs(0)) node.SetGradient(0, KernelNode(node, "ConvInputGrad", {g, w, x}, 1, attributes)[0]);
  SetWeightGradients(node, "ConvWeightGrad", {x, g, w}, attributes);
}

void ChannelsLast(GradContext& node) {
  node.SetGradient(0, KernelNode(node, "ChannelsFirst", {node.OutputGradient()}, 1)[0]);
}

void ChannelsFirst(GradContext& node) {
  node.SetGradient(0, KernelNode(node, "ChannelsLast", {node.OutputGradient()}, 1)[0]);
}

// The roles of image and map are exchanged.
void ConvTranspose(GradContext& node) {
  const Value x = node.Input(0), w = node.Input(1), g = node.OutputGradient();
  const Attributes attributes = ConvAttributesOf(node);
  if (node.Needs(0)) node.SetGradient(0, KernelNode(node, "Conv", {g, w}, 1, attributes)[0]);
  if (node.Needs(1)) node.SetGradient(1, KernelNode(node, "ConvWeightGrad", {g, x, w}, 1, attributes)[0]);
  if (!node.Needs(2)) return;
  const Attributes axes = {{"axes", node.Rank(0) - 1}, {"keepdims", int64_t{0}}};
  node.SetGradient(2, KernelNode(node, "SumRows", {g}, 1, axes)[0]);
}

void MaxPool(GradContext& node) {
  Attributes attributes = WindowOf(node);
  attributes["kernel"] = node.Ints("kernel");
  node.SetGradient(0,
                   KernelNode(node, "MaxPoolGrad", {node.Input(0), node.OutputGradient()}, 1, attributes)[0]);
}

// The gradients of a normalisation's inputs: of x, scale and bias.
void SetNormGradients(GradContext& node, const std::vector<Value>& gradients) {
  for (int i = 0; i < std::ssize(gradients); ++i)
    if (node.Needs(i)) node.SetGradient(i, gradients[i]);
}

void GroupNorm(GradContext& node) {
  const Attributes attributes = {{"groups", node.Int("groups", 1)},
                                 {"epsilon", node.Float("epsilon", 1e-5f)}};
  std::vector<Value> inputs = {node.Input(0), node.OutputGradient()};
  if (node.HasInput(1)) inputs.push_back(node.Input(1));
  SetNormGradients(node, KernelNode(node, "GroupNormGrad", inputs, node.InputCount(), attributes));
}

void LayerNorm(GradContext& node) {
  const Attributes attributes = {{"epsilon", node.Float("epsilon", 1e-5f)}};
  const int gradients = node.HasInput(2) ? 3 : 2;
  SetNormGradients(node,
                   KernelNode(node, "LayerNormGrad", {node.Input(0), node.Input(1), node.OutputGradient()},
                              gradients, attributes));
}

void Gelu(GradContext& node) {
  node.SetGradient(0, KernelNode(node, "GeluGrad", {node.Input(0), node.OutputGradient()}, 1)[0]);
}

void Relu(GradContext& node) {
  node.SetGradient(0, KernelNode(node, "ReluGrad", {node.Output(), node.OutputGradient()}, 1)[0]);
}

Value Products(GradContext& node, const Value& a, bool transposed_a, const Value& b, bool transposed_b) {
  return KernelNode(node, "MatMuls", {a, b}, 1,
                    {{"trans_a", int64_t{transposed_a}}, {"trans_b", int64_t{transposed_b}}})[0];
}

// Those that are put in place of standard operators have nothing transposed.
void MatMuls(GradContext& node) {
  const Value a = node.Input(0), b = node.Input(1), g = node.OutputGradient();
  if (node.Needs(0)) {
    const Value of_each = Products(node, g, false, b, true);
    const Attributes axes = {{"axes", node.Rank(1) - 2}, {"keepdims", int64_t{0}}};
    const bool shared = node.Rank(0) < node.Rank(1);
    node.SetGradient(0, shared ? KernelNode(node, "SumRows", {of_each}, 1, axes)[0] : of_each);
  }
  if (node.Needs(1)) node.SetGradient(1, Products(node, a, true, g, false));
}

void Attention(GradContext& node) {
  const std::vector<Value> gradients =
      KernelNode(node, "AttentionGrad",
                 {node.Input(0), node.Input(1), node.Input(2), node.Output(1), node.OutputGradient()}, 3);
  for (int i = 0; i < 3; ++i)
    if (node.Needs(i)) node.SetGradient(i, gradients[i]);
}

constexpr std::array kRules = {
    GradientRule{"Attention", kCpuKernelVersion, Attention},
    GradientRule{"ChannelsFirst", kCpuKernelVersion, ChannelsFirst},
    GradientRule{"ChannelsLast", kCpuKernelVersion, ChannelsLast},
    GradientRule{"Conv", kCpuKernelVersion, Conv},
    GradientRule{"ConvTranspose", kCpuKernelVersion, ConvTranspose},
    GradientRule{"Dense", kCpuKernelVersion, Dense},
    GradientRule{"DenseSwish", kCpuKernelVersion, DenseSwish},
    GradientRule{"Gelu", kCpuKernelVersion, Gelu},
    GradientRule{"GroupNorm", kCpuKernelVersion, GroupNorm},
    GradientRule{"LayerNorm", kCpuKernelVersion, LayerNorm},
    GradientRule{"MatMuls", kCpuKernelVersion, MatMuls},
    GradientRule{"MaxPool", kCpuKernelVersion, MaxPool},
    GradientRule{"Relu", kCpuKernelVersion, Relu},
    GradientRule{"Swish", kCpuKernelVersion, Swish},
};

}  // namespace

std::span<const GradientRule> CpuKernelRules() { return kRules; }

}  // namespace ort_ed
