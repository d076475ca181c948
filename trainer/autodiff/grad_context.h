#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/graph/graph_builder.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// One summand of a tensor's gradient. A compact one has extents of 1 where the tensor is larger and stands
// for its broadcast: the gradient of a sum need not be written out before the next multiplication.
struct Contribution {
  Value value;
  bool compact = false;
};

// What the reverse sweep knows; shared by the contexts of all nodes.
struct GradState {
  GraphBuilder& builder;
  TensorInfos infos = {};
  std::unordered_set<std::string> wanted = {};  // tensors whose gradient was asked for
  std::unordered_set<std::string> active = {};  // tensors whose gradient is needed on the way to those
  std::unordered_map<std::string, std::vector<Contribution>> contributions = {};
  std::unordered_map<std::string, const onnx::NodeProto*> producers = {};
  std::unordered_map<std::string, const onnx::TensorProto*> initializers = {};
  bool cpu_kernels = false;  // whether nodes of kCpuKernelDomain may be used
};

// One node as a gradient rule sees it. Rules read inputs, outputs, attributes, shapes and the gradient of the
// outputs, and set the gradient of every input that Needs() one.
class GradContext {
 public:
  GradContext(GradState& state, const onnx::NodeProto& node) : state_(state), node_(node) {}

  const onnx::NodeProto& node() const { return node_; }
  GraphBuilder& graph() const { return state_.builder; }
  int64_t opset() const { return state_.builder.opset(); }

  int InputCount() const { return node_.input_size(); }
  bool HasInput(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  Value Input(int i) const;
  Value Output(int i = 0) const;

  // The gradient of an output, of the output's shape. Outputs without gradient: HasOutputGradient() is false.
  bool HasOutputGradient(int i = 0) const;
  Value OutputGradient(int i = 0);
  // The same, but perhaps compact: for rules that multiply it by a tensor of the output's full shape.
  Value CompactOutputGradient(int i = 0);

  bool Needs(int i) const;
  // `gradient` has the shape of input i.
  void SetGradient(int i, const Value& gradient);
  // `gradient` broadcasts to the shape of input i.
  void SetCompactGradient(int i, const Value& gradient);
  // `gradient` has the shape of output 0, to which input i was broadcast: sums over the broadcast axes.
  void SetBroadcastGradient(int i, const Value& gradient);
  // For rules that see through a pattern: adds to the gradient of a tensor before this node's inputs, and
  // counts input i as done.
  void SetGradientOf(const std::string& tensor, const Value& gradient, int i);
  void SetDone(int i) { handled_.insert(i); }
  bool IsActive(const std::string& tensor) const { return state_.active.count(tensor) > 0; }
  bool IsWanted(const std::string& tensor) const { return state_.wanted.count(tensor) > 0; }
  // Fails naming the input if the rule left out one that Needs() a gradient.
  void CheckComplete() const;

  const TensorInfo& InputInfo(int i) const { return Info(Input(i).name); }
  const TensorInfo& OutputInfo(int i = 0) const { return Info(Output(i).name); }
  // Rank of an input; fails naming the node if ONNX Runtime could not infer it.
  int64_t Rank(int i) const;
  bool SameShape(int input, int output = 0) const;

  bool HasAttribute(const std::string& name) const { return FindAttribute(name) != nullptr; }
  int64_t Int(const std::string& name, int64_t otherwise) const;
  float Float(const std::string& name, float otherwise) const;
  std::string String(const std::string& name, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const std::string& name) const;  // empty if absent
  // The value of an input that is an initialiser or a constant.
  std::optional<std::vector<int64_t>> ConstantInts(int i) const;
  // The value of an input that is a constant of one number, or an initialiser that nothing changes.
  std::optional<double> ConstantNumber(int i) const;
  // A list such as `axes` that is an attribute in older opsets and input i in newer ones; empty if absent.
  // Fails if it is computed at run time.
  std::vector<int64_t> ListArgument(const std::string& attribute, int i) const;
  // Negative axes count from the end. Sorted.
  std::vector<int64_t> PositiveAxes(std::vector<int64_t> axes, int64_t rank) const;
  int64_t PositiveAxis(int64_t axis, int64_t rank) const { return axis < 0 ? axis + rank : axis; }

  // 1 where `condition` (a bool tensor) holds and 0 elsewhere, in the node's floating-point type.
  Value Mask(const Value& condition) const;
  Value Zeros(const Value& shape) const;  // of a 1-D int64 shape
  // How many numbers of input 0 lie along these axes, which the output has not, or with one place: a
  // constant, or computed from the shapes.
  Value CountAlong(const std::vector<int64_t>& axes);
  // `value` with the shape of input i (the element counts agree).
  Value ReshapeToInput(const Value& value, int i);
  // `value`, which broadcasts to the shape of input i, written out.
  Value ExpandToInput(const Value& value, int i) { return Expand(value, Input(i)); }
  // Sums `value`, of shape `from`, to the shape of `like`, which broadcasts to `from`.
  Value Unbroadcast(const Value& value, const TensorInfo& from, const Value& like);
  // The same where `like` is a tensor made by the rule, of shape `to`.
  Value Unbroadcast(const Value& value, const TensorInfo& from, const TensorInfo& to, const Value& like);

  const TensorInfo& Info(const std::string& tensor) const;
  // The node of the forward graph that makes a tensor; null for inputs and initialisers.
  const onnx::NodeProto* Producer(const std::string& tensor) const;
  [[noreturn]] void Fail(const std::string& why) const;

 private:
  const onnx::AttributeProto* FindAttribute(const std::string& name) const;
  // An initialiser that keeps its value: no input's default, and no floats, which training may change even
  // after the gradient was written into a file; else null.
  const onnx::TensorProto* FixedInitializer(const std::string& tensor) const;
  Value Expand(const Value& value, const Value& like);
  // `info` is of `value`, `axes` are sorted and not empty.
  Value SumOver(const Value& value, const TensorInfo& info, const std::vector<int64_t>& axes,
                bool keep_dimensions);
  Value UnbroadcastAtRunTime(const Value& value, int64_t rank, const Value& like);
  void Contribute(int i, Contribution contribution);

  GradState& state_;
  const onnx::NodeProto& node_;
  std::set<int> handled_;  // inputs whose gradient was set
};

// The sum of a tensor's contributions, which must not be empty; remembered, so that the sum is emitted once.
Contribution Accumulate(GradState& state, const std::string& tensor);

// The extents as a constant for Reshape or Expand, where at most one is unknown (written as -1).
std::optional<std::vector<int64_t>> StaticExtents(const TensorInfo& info, int allowed_unknown);

}  // namespace ort_ed
