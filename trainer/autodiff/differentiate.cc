#include "trainer/autodiff/differentiate.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"
#include "trainer/autodiff/grad_context.h"
#include "trainer/autodiff/rules.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/raise_opset.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

std::atomic<int64_t> differentiations = 0;

using NameSet = std::unordered_set<std::string>;

GradState MakeState(GraphBuilder& builder, const DifferentiateRequest& request) {
  GradState state{.builder = builder,
                  .infos = InferShapes(builder.model(), request.output),
                  .wanted = {request.with_respect_to.begin(), request.with_respect_to.end()}};
  for (const auto& opset : builder.model().opset_import())
    state.cpu_kernels = state.cpu_kernels || opset.domain() == kCpuKernelDomain;
  for (const auto& tensor : builder.graph().initializer()) state.initializers[tensor.name()] = &tensor;
  for (const auto& node : builder.graph().node()) {
    for (const auto& output : node.output()) state.producers[output] = &node;
  }
  return state;
}

bool IsLeaf(const onnx::NodeProto& node, int64_t opset) {
  return Classify(node.domain(), node.op_type(), opset) == Differentiability::kLeaf;
}

bool ReadsAny(const onnx::NodeProto& node, const NameSet& tensors) {
  const std::vector<std::string> reads = TensorsRead(node);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const std::string& tensor) { return tensors.count(tensor) > 0; });
}

bool MakesAny(const onnx::NodeProto& node, const NameSet& tensors) {
  return std::ranges::any_of(node.output(),
                             [&](const std::string& output) { return tensors.contains(output); });
}

// Whether a gradient may flow through the tensor: numbers of floating point, or what is no tensor at all (a
// sequence has no rule, and says so, where cutting the path would make a silent zero).
bool MayCarryGradient(const GradState& state, const std::string& tensor) {
  const auto info = state.infos.find(tensor);
  if (info == state.infos.end()) return false;
  return info->second.is_floating() || info->second.type == onnx::TensorProto::UNDEFINED;
}

// The tensors that depend on the wanted ones in a differentiable way.
NameSet Dependents(const GradState& state, int64_t opset) {
  NameSet dependents = state.wanted;
  for (const auto& node : state.builder.graph().node()) {
    if (IsLeaf(node, opset) || !ReadsAny(node, dependents)) continue;
    for (const auto& output : node.output()) {
      if (MayCarryGradient(state, output)) dependents.insert(output);
    }
  }
  return dependents;
}

// The nodes on a path from the wanted tensors to the output, last first; fills in state.active.
std::vector<const onnx::NodeProto*> Path(GradState& state, const DifferentiateRequest& request,
                                         int64_t opset) {
  const NameSet dependents = Dependents(state, opset);
  if (dependents.count(request.output) == 0) return {};
  state.active.insert(request.output);
  std::vector<const onnx::NodeProto*> path;
  const auto& nodes = state.builder.graph().node();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (!MakesAny(*node, state.active) || IsLeaf(*node, opset) || !ReadsAny(*node, dependents)) continue;
    path.push_back(&*node);
    for (const auto& input : TensorsRead(*node)) {
      if (dependents.count(input) > 0) state.active.insert(input);
    }
  }
  return path;
}

// Whose results depend on the shape of what they read, or on nothing.
bool IgnoresValues(const onnx::NodeProto& node) {
  return IsStandardDomain(node.domain()) &&
         std::ranges::any_of(std::array{"Shape", "Size", "EyeLike", "RandomNormalLike", "RandomUniformLike"},
                             [&](const char* op) { return node.op_type() == op; });
}

// The inputs on whose values the results depend, but for the condition of a Where with a slope.
std::vector<std::string> InfluencesOf(const onnx::NodeProto& node, const NameSet& dependents) {
  if (IgnoresValues(node)) return {};
  std::vector<std::string> inputs = TensorsRead(node);
  std::erase(inputs, "");
  if (node.op_type() == "Where" && MakesAny(node, dependents)) std::erase(inputs, node.input(0));
  return inputs;
}

void CheckRequest(const GradState& state, const DifferentiateRequest& request) {
  if (state.builder.opset() < kOldestDifferentiableOpset) {
    throw Error(ErrorCode::kInvalidArgument, "cannot differentiate a model of opset " +
                                                 std::to_string(state.builder.opset()) +
                                                 "; call PrepareForDifferentiation() first.");
  }
  const auto require = [&](const std::string& tensor) {
    const auto info = state.infos.find(tensor);
    if (info == state.infos.end()) {
      throw Error(ErrorCode::kInvalidArgument, "the model has no tensor '" + tensor + "' to differentiate.");
    }
    if (!info->second.is_floating()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "cannot differentiate with '" + tensor + "': it does not hold floating-point numbers.");
    }
  };
  require(request.output);
  if (!request.output_gradient.empty()) require(request.output_gradient);
  for (const auto& tensor : request.with_respect_to) require(tensor);
}

Contribution Seed(GradState& state, const DifferentiateRequest& request) {
  if (!request.output_gradient.empty()) return {state.builder.Existing(request.output_gradient), false};
  state.builder.set_float_type(state.infos.at(request.output).type);
  return {state.builder.Scalar(1), true};
}

// The element type in which a node computes: what its gradient's constants have to be.
int32_t FloatType(const GradState& state, const onnx::NodeProto& node) {
  for (const auto& output : node.output()) {
    const auto info = state.infos.find(output);
    if (info != state.infos.end() && info->second.is_floating()) return info->second.type;
  }
  return onnx::TensorProto::FLOAT;
}

void EmitNode(GradState& state, const onnx::NodeProto& node) {
  GradContext context(state, node);
  const GradientRule* rule = FindGradientRule(node.domain(), node.op_type(), state.builder.opset());
  if (!rule) {
    context.Fail("there is no gradient rule for this operator in opset " +
                 std::to_string(state.builder.opset()) +
                 "; replace it in the model, or keep it away from what is trained");
  }
  state.builder.set_float_type(FloatType(state, node));
  rule->emit(context);
  context.CheckComplete();
}

// The total gradient of a wanted tensor, written out.
std::string TotalGradient(GradState& state, const std::string& tensor) {
  if (state.contributions.count(tensor) == 0) return "";
  const Contribution total = Accumulate(state, tensor);
  if (!total.compact) return total.value.name;
  const Value like = state.builder.Existing(tensor);
  return Op("Expand", {total.value, Op("Shape", {like})}).name;
}

}  // namespace

std::vector<onnx::NodeProto> NodesWithoutRule(GraphBuilder& builder, const DifferentiateRequest& request) {
  GradState state = MakeState(builder, request);
  CheckRequest(state, request);
  std::vector<onnx::NodeProto> nodes;
  for (const onnx::NodeProto* node : Path(state, request, builder.opset())) {
    if (!FindGradientRule(node->domain(), node->op_type(), builder.opset())) nodes.push_back(*node);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<onnx::NodeProto> NodesWithoutSlope(GraphBuilder& builder, const DifferentiateRequest& request) {
  const GradState state = MakeState(builder, request);
  CheckRequest(state, request);
  const NameSet dependents = Dependents(state, builder.opset());
  NameSet influences = {request.output};
  std::vector<onnx::NodeProto> nodes;
  const auto& all = builder.graph().node();
  for (auto node = all.rbegin(); node != all.rend(); ++node) {
    if (!MakesAny(*node, influences)) continue;
    bool has_slope = true, reads_dependents = false;
    for (const std::string& output : node->output())
      has_slope = has_slope && (!influences.contains(output) || dependents.contains(output));
    for (const std::string& input : InfluencesOf(*node, dependents)) {
      influences.insert(input);
      reads_dependents = reads_dependents || dependents.contains(input);
    }
    if (reads_dependents && !has_slope) nodes.push_back(*node);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

int64_t DifferentiationCount() { return differentiations; }

std::map<std::string, std::string> Differentiate(GraphBuilder& builder, const DifferentiateRequest& request) {
  ++differentiations;
  GradState state = MakeState(builder, request);
  CheckRequest(state, request);
  const auto path = Path(state, request, builder.opset());
  const int32_t float_type = builder.float_type();
  if (state.active.count(request.output) > 0) {
    state.contributions[request.output] = {Seed(state, request)};
  }
  for (const onnx::NodeProto* node : path) {
    const bool has_gradient =
        std::any_of(node->output().begin(), node->output().end(),
                    [&](const std::string& output) { return state.contributions.count(output) > 0; });
    if (has_gradient) EmitNode(state, *node);
  }
  builder.set_float_type(float_type);
  std::map<std::string, std::string> gradients;
  for (const auto& tensor : request.with_respect_to) gradients[tensor] = TotalGradient(state, tensor);
  return gradients;
}

}  // namespace ort_ed
