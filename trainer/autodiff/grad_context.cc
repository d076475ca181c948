#include "trainer/autodiff/grad_context.h"

#include <algorithm>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"
#include "ort_ed/error.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

std::vector<int64_t> IntegerData(const onnx::TensorProto& tensor) {
  if (tensor.data_type() == onnx::TensorProto::INT64) return onnx::ParseData<int64_t>(&tensor);
  const std::vector<int32_t> narrow = onnx::ParseData<int32_t>(&tensor);
  return {narrow.begin(), narrow.end()};
}

bool IsInteger(const onnx::TensorProto& tensor) {
  return tensor.data_type() == onnx::TensorProto::INT64 || tensor.data_type() == onnx::TensorProto::INT32;
}

std::optional<std::vector<int64_t>> ConstantNodeInts(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "value" && IsInteger(attribute.t())) return IntegerData(attribute.t());
    if (attribute.name() == "value_int") return std::vector{static_cast<int64_t>(attribute.i())};
    if (attribute.name() == "value_ints") {
      return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
    }
  }
  return std::nullopt;
}

std::optional<double> SingleNumber(const onnx::TensorProto& tensor) {
  const auto single = [](const auto& values) -> std::optional<double> {
    if (values.size() != 1) return std::nullopt;
    return static_cast<double>(values[0]);
  };
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return single(onnx::ParseData<float>(&tensor));
    case onnx::TensorProto::DOUBLE:
      return single(onnx::ParseData<double>(&tensor));
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::INT64:
      return single(IntegerData(tensor));
    case onnx::TensorProto::BOOL:
      return single(tensor.has_raw_data()
                        ? std::vector<int>(tensor.raw_data().begin(), tensor.raw_data().end())
                        : std::vector<int>(tensor.int32_data().begin(), tensor.int32_data().end()));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<int64_t>> StaticExtents(const TensorInfo& info, int allowed_unknown) {
  if (!info.has_rank || info.unknown_extents() > allowed_unknown) return std::nullopt;
  std::vector<int64_t> extents;
  for (const Extent& extent : info.shape) {
    if (extent.value == 0) return std::nullopt;  // 0 would mean "keep" to Reshape
    extents.push_back(extent.value);
  }
  return extents;
}

Contribution Accumulate(GradState& state, const std::string& tensor) {
  auto& parts = state.contributions.at(tensor);
  if (parts.size() > 1) {
    const bool compact =
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.compact; });
    std::vector<Value> values;
    for (const Contribution& part : parts) values.push_back(part.value);
    const char* op = values.size() == 2 ? "Add" : "Sum";
    parts = {{state.builder.Node(op, values), compact}};
  }
  return parts.front();
}

Value GradContext::Input(int i) const { return {&state_.builder, node_.input(i)}; }
Value GradContext::Output(int i) const { return {&state_.builder, node_.output(i)}; }

bool GradContext::HasOutputGradient(int i) const {
  return i < node_.output_size() && state_.contributions.count(node_.output(i)) > 0;
}

Value GradContext::OutputGradient(int i) {
  const Contribution total = Accumulate(state_, node_.output(i));
  return total.compact ? Expand(total.value, Output(i)) : total.value;
}

Value GradContext::CompactOutputGradient(int i) { return Accumulate(state_, node_.output(i)).value; }

bool GradContext::Needs(int i) const { return HasInput(i) && state_.active.count(node_.input(i)) > 0; }

void GradContext::Contribute(int i, Contribution contribution) {
  handled_.insert(i);
  if (Needs(i)) state_.contributions[node_.input(i)].push_back(std::move(contribution));
}

void GradContext::SetGradient(int i, const Value& gradient) { Contribute(i, {gradient, false}); }
void GradContext::SetCompactGradient(int i, const Value& gradient) { Contribute(i, {gradient, true}); }
void GradContext::SetGradientOf(const std::string& tensor, const Value& gradient, int i) {
  handled_.insert(i);
  if (IsActive(tensor)) state_.contributions[tensor].push_back({gradient, false});
}
void GradContext::SetBroadcastGradient(int i, const Value& gradient) {
  if (Needs(i)) SetGradient(i, Unbroadcast(gradient, OutputInfo(), Input(i)));
}

void GradContext::CheckComplete() const {
  for (int i = 0; i < InputCount(); ++i) {
    if (Needs(i) && handled_.count(i) == 0) {
      Fail("its gradient with respect to input " + std::to_string(i) + " ('" + node_.input(i) +
           "') is not implemented");
    }
  }
}

const TensorInfo& GradContext::Info(const std::string& tensor) const {
  const auto known = state_.infos.find(tensor);
  if (known == state_.infos.end()) Fail("the type of '" + tensor + "' is not known");
  return known->second;
}

const onnx::NodeProto* GradContext::Producer(const std::string& tensor) const {
  const auto producer = state_.producers.find(tensor);
  return producer == state_.producers.end() ? nullptr : producer->second;
}

int64_t GradContext::Rank(int i) const {
  const TensorInfo& info = InputInfo(i);
  if (!info.has_rank) {
    Fail("the rank of '" + node_.input(i) + "' is not known; give the model's inputs fixed shapes");
  }
  return info.rank();
}

bool GradContext::SameShape(int input, int output) const {
  const TensorInfo& a = InputInfo(input);
  const TensorInfo& b = OutputInfo(output);
  return a.has_rank && b.has_rank &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(), SameExtent);
}

const onnx::AttributeProto* GradContext::FindAttribute(const std::string& name) const {
  return ort_ed::FindAttribute(node_, name);
}

int64_t GradContext::Int(const std::string& name, int64_t otherwise) const {
  const auto* attribute = FindAttribute(name);
  return attribute ? attribute->i() : otherwise;
}

float GradContext::Float(const std::string& name, float otherwise) const {
  const auto* attribute = FindAttribute(name);
  return attribute ? attribute->f() : otherwise;
}

std::string GradContext::String(const std::string& name, const std::string& otherwise) const {
  const auto* attribute = FindAttribute(name);
  return attribute ? attribute->s() : otherwise;
}

std::vector<int64_t> GradContext::Ints(const std::string& name) const {
  const auto* attribute = FindAttribute(name);
  if (!attribute) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

const onnx::TensorProto* GradContext::FixedInitializer(const std::string& tensor) const {
  const auto initializer = state_.initializers.find(tensor);
  if (initializer == state_.initializers.end() || Info(tensor).is_floating()) return nullptr;
  const auto& inputs = state_.builder.graph().input();
  const bool is_default =
      std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.name() == tensor; });
  return is_default ? nullptr : initializer->second;
}

std::optional<std::vector<int64_t>> GradContext::ConstantInts(int i) const {
  const std::string& name = node_.input(i);
  if (const auto initializer = state_.initializers.find(name); initializer != state_.initializers.end()) {
    if (IsInteger(*initializer->second)) return IntegerData(*initializer->second);
  }
  const onnx::NodeProto* producer = Producer(name);
  if (producer && producer->op_type() == "Constant") return ConstantNodeInts(*producer);
  return std::nullopt;
}

std::optional<double> GradContext::ConstantNumber(int i) const {
  const onnx::TensorProto* tensor = FixedInitializer(node_.input(i));
  if (const onnx::NodeProto* producer = Producer(node_.input(i)); producer) {
    if (producer->op_type() != "Constant") return std::nullopt;
    for (const auto& attribute : producer->attribute()) {
      if (attribute.name() == "value_float") return attribute.f();
      if (attribute.name() == "value_int") return static_cast<double>(attribute.i());
      if (attribute.name() == "value") tensor = &attribute.t();
    }
  }
  return tensor ? SingleNumber(*tensor) : std::nullopt;
}

std::vector<int64_t> GradContext::ListArgument(const std::string& attribute, int i) const {
  if (!HasInput(i)) return Ints(attribute);
  const auto values = ConstantInts(i);
  if (!values) Fail("its input '" + node_.input(i) + "' (" + attribute + ") must be a constant");
  return *values;
}

std::vector<int64_t> GradContext::PositiveAxes(std::vector<int64_t> axes, int64_t rank) const {
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

Value GradContext::Mask(const Value& condition) const {
  return Op("Cast", {condition}, {{"to", int64_t{state_.builder.float_type()}}});
}

Value GradContext::Zeros(const Value& shape) const { return Op("Expand", {state_.builder.Scalar(0), shape}); }

Value GradContext::CountAlong(const std::vector<int64_t>& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) {
    const Extent& extent = InputInfo(0).shape[axis];
    if (!extent.known()) {
      const Value ratio = Op("Size", {Input(0)}) / Op("Size", {Output()});
      return Op("Cast", {ratio}, {{"to", int64_t{OutputInfo().type}}});
    }
    count *= extent.value;
  }
  return graph().Scalar(static_cast<float>(count));
}

Value GradContext::ReshapeToInput(const Value& value, int i) {
  if (const auto extents = StaticExtents(InputInfo(i), 1)) return Reshape(value, *extents);
  return Op("Reshape", {value, Op("Shape", {Input(i)})});
}

Value GradContext::Expand(const Value& value, const Value& like) {
  if (const auto extents = StaticExtents(Info(like.name), 0)) {
    return Op("Expand", {value, state_.builder.Ints(*extents)});
  }
  return Op("Expand", {value, Op("Shape", {like})});
}

Value GradContext::Unbroadcast(const Value& value, const TensorInfo& from, const Value& like) {
  return Unbroadcast(value, from, Info(like.name), like);
}

Value GradContext::Unbroadcast(const Value& value, const TensorInfo& from, const TensorInfo& to,
                               const Value& like) {
  if (!from.has_rank || !to.has_rank) Fail("the rank of its operands is not known");
  const int64_t leading = from.rank() - to.rank();
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < leading; ++axis) axes.push_back(axis);
  for (int64_t axis = 0; axis < to.rank(); ++axis) {
    const Extent& wide = from.shape[leading + axis];
    const Extent& narrow = to.shape[axis];
    if (SameExtent(wide, narrow) || narrow.value > 1 || wide.value == 1) continue;
    if (!narrow.known()) return UnbroadcastAtRunTime(value, to.rank(), like);
    axes.push_back(leading + axis);
  }
  if (axes.empty()) return value;
  const bool only_inner = leading == 0;
  const Value sum = SumOver(value, from, axes, only_inner);
  if (only_inner || static_cast<int64_t>(axes.size()) == leading) return sum;
  if (const auto extents = StaticExtents(to, 1)) return Reshape(sum, *extents);
  return Op("Reshape", {sum, Op("Shape", {like})});
}

Value GradContext::SumOver(const Value& value, const TensorInfo& info, const std::vector<int64_t>& axes,
                           bool keep_dimensions) {
  const bool of_rows = axes.back() + 1 == std::ssize(axes);
  if (!of_rows || !state_.cpu_kernels || info.type != onnx::TensorProto::FLOAT)
    return Reduce("ReduceSum", value, axes, keep_dimensions);
  const Attributes attributes = {{"axes", static_cast<int64_t>(axes.size())},
                                 {"keepdims", int64_t{keep_dimensions}}};
  return state_.builder.NodeWithOutputs("SumRows", {{value}}, 1, attributes, kCpuKernelDomain)[0];
}

// Some extent of `like` may or may not be 1: which axes to sum over is decided where the shapes are known.
Value GradContext::UnbroadcastAtRunTime(const Value& value, int64_t rank, const Value& like) {
  GraphBuilder& graph = state_.builder;
  const Value one = graph.IntScalar(1);
  const Value value_shape = Op("Shape", {value});
  const Value leading = Op("Sub", {Op("Size", {value_shape}), graph.Ints({{rank}})});
  // The shape of `like` with leading ones, to the rank of `value`.
  const Value ones = Op("Expand", {one, leading});
  const Value padded = Op("Concat", {ones, Op("Shape", {like})}, {{"axis", int64_t{0}}});
  const Value axes = Squeeze(Op("NonZero", {Op("Equal", {padded, one})}), {0});
  const Value sum =
      Op("ReduceSum", {value, axes}, {{"keepdims", int64_t{1}}, {"noop_with_empty_axes", int64_t{1}}});
  return Op("Reshape", {sum, Op("Shape", {like})});
}

void GradContext::Fail(const std::string& why) const {
  throw Error(ErrorCode::kBadModel, "cannot differentiate " + DescribeNode(node_) + ": " + why + ".");
}

}  // namespace ort_ed
