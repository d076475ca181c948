#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <onnx/onnx_pb.h>

#include "ort_ed/nothing.h"

namespace ort_ed {

class GraphBuilder;

// A tensor of the graph under construction. Arithmetic on values appends nodes, so that code reads like the
// mathematics:
//   Value energy = ReduceSum(Softplus(MatMul(x, weights) + bias), {1});
struct Value {
  GraphBuilder* graph = nullptr;
  std::string name;
};

using Attribute =
    std::variant<Nothing, int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;
using Attributes = std::map<std::string, Attribute>;

// Appends to an ONNX model: unique names, initialisers, constants, nodes. Convention of the project: a float
// initialiser is a parameter, a constant is a Constant node; so whatever is an initialiser can be trained.
class GraphBuilder {
 public:
  // Opset of the models the toolkit makes itself: the newest that every supported onnx library can check.
  static constexpr int64_t kOpset = 17;
  static constexpr int64_t kIrVersion = 8;

  // Continues `model`, which must outlive the builder; a model without opset gets kOpset. New names start
  // with `prefix` and differ from all of the model's, those of its subgraphs too.
  explicit GraphBuilder(onnx::ModelProto& model, std::string prefix = "");

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  int64_t opset() const { return opset_; }

  // shape: -1 stands for the dynamic batch.
  Value Input(const std::string& name, std::span<const int64_t> shape,
              int32_t type = onnx::TensorProto::FLOAT);
  void Output(const Value& value, std::span<const int64_t> shape, int32_t type = onnx::TensorProto::FLOAT);
  // The same tensor under a fixed name (an Identity node). Throws kInvalidArgument if the name is taken.
  Value Named(const Value& value, const std::string& name);
  // Gives a node's output an unused name, wherever it is used; other copies of `value` are stale afterwards.
  Value Renamed(const Value& value, const std::string& name);
  Value Existing(const std::string& name) { return {this, name}; }

  // `values` has the elements of `shape`, row-major.
  Value Parameter(const std::string& name, std::span<const int64_t> shape, std::span<const float> values);

  // Element type of the constants that Scalar() and Constant() make: FLOAT unless set.
  int32_t float_type() const { return float_type_; }
  void set_float_type(int32_t type) { float_type_ = type; }

  // Constants; equal ones are shared.
  Value Scalar(float value);
  Value Constant(std::span<const int64_t> shape, std::span<const float> values);
  Value Ints(std::span<const int64_t> values);  // 1-D int64
  Value IntScalar(int64_t value);

  Value Node(const std::string& op, std::span<const Value> inputs, const Attributes& attributes = {});
  std::vector<Value> NodeWithOutputs(const std::string& op, std::span<const Value> inputs, int outputs,
                                     const Attributes& attributes = {}, const std::string& domain = "");

  std::string FreshName(const std::string& hint);

 private:
  Value AppendConstant(const onnx::TensorProto& tensor);
  Value InFloatType(const Value& value);
  void CollectNames(const onnx::GraphProto& graph);
  void TakeName(const std::string& name);

  onnx::ModelProto& model_;
  std::string prefix_;
  int64_t opset_ = kOpset;
  int32_t float_type_ = onnx::TensorProto::FLOAT;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int> next_suffix_;
  std::map<std::string, std::string> constants_;                // serialised tensor -> name
  std::map<std::pair<std::string, int32_t>, Value> converted_;  // (constant, element type) -> its Cast
};

// An optional input that is left out.
Value NoValue(const Value& like);

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
Value operator+(const Value& a, float b);
Value operator-(const Value& a, float b);
Value operator*(const Value& a, float b);
Value operator/(const Value& a, float b);
Value operator+(float a, const Value& b);
Value operator-(float a, const Value& b);
Value operator*(float a, const Value& b);
Value operator/(float a, const Value& b);

// Any operator of the standard by name: Op("Sigmoid", {x}).
Value Op(const std::string& op, std::initializer_list<Value> inputs, const Attributes& attributes = {});

Value MatMul(const Value& a, const Value& b);
Value Transpose(const Value& a, std::span<const int64_t> permutation);
Value Reshape(const Value& a, std::span<const int64_t> shape);  // 0 keeps, -1 infers
Value Sigmoid(const Value& a);
Value Softplus(const Value& a);
Value Exp(const Value& a);
Value Log(const Value& a);
Value Sqrt(const Value& a);

// Reductions and squeezes in the form that the model's opset wants (axes as attribute or as input). Empty
// axes: all.
Value Reduce(const std::string& op, const Value& a, std::span<const int64_t> axes,
             bool keep_dimensions = false);
Value ReduceSum(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions = false);
Value ReduceMean(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions = false);
Value ReduceMax(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions = false);
Value Squeeze(const Value& a, std::span<const int64_t> axes);
Value Squeeze(const Value& a, std::initializer_list<int64_t> axes);
Value Unsqueeze(const Value& a, std::span<const int64_t> axes);
Value Unsqueeze(const Value& a, std::initializer_list<int64_t> axes);

}  // namespace ort_ed
