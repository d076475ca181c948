#pragma once

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "ort_ed/device.h"

namespace ort_ed {

// A model written as ONNX text. Without a header `<...>` it gets `opset` and the IR version that goes with
// it.
onnx::ModelProto ParseModel(const std::string& text, int64_t opset = 17);

// A float tensor; integers and bools are held as floats too.
struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
using TestTensors = std::map<std::string, TestTensor>;

// Well separated values of a range for every input of a model, whole numbers where they are not float;
// `batch` is the value of every symbolic extent.
TestTensors InputsFor(const onnx::ModelProto& model, double low = -1.5, double high = 1.5, int64_t batch = 3);

// Runs a model in ONNX Runtime; inputs and outputs of any numeric type.
class TestSession {
 public:
  explicit TestSession(const onnx::ModelProto& model, bool optimised = false, const Device& device = {});
  ~TestSession();
  TestTensors Run(const TestTensors& inputs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Literal, so that long tables of cases compile quickly.
struct GradientCase {
  const char* name;
  // ONNX text: "(float[N,3] x) => (float[N,3] y) { y = Exp(x) }". All float inputs are differentiated.
  const char* graph;
  int64_t opset = 17;
  double low = -1.5;  // inputs are well separated values of this range, so that no kink is near
  double high = 1.5;
  int64_t batch = 3;          // value of every symbolic extent
  const char* constant = "";  // an input that is not differentiated
  const char* zero = "";      // an input that is expected to have no gradient
  bool in_float = false;      // the operator computes in float whatever its type
  // Applied to the model before it is differentiated; must not change what it computes.
  void (*rewrite)(onnx::ModelProto& model) = nullptr;
};

inline void PrintTo(const GradientCase& test, std::ostream* out) { *out << test.graph; }

// The model of a case, the names of the inputs whose gradients it checks, and values for all inputs.
struct PreparedCase {
  onnx::ModelProto model;
  std::vector<std::string> wanted;
  TestTensors inputs;
};
PreparedCase Prepare(const GradientCase& test);

// Weights c of the right shape for an output, for the input "seed" of WithGradients().
TestTensor SeedFor(const TestTensor& output);

// Compares the gradient of sum_i c_i * output_i, c random, with central differences; failures are GoogleTest
// ones that name the tensor and the element. Differences are taken in double precision where ONNX Runtime has
// the operators in double, else in float with a larger step and a wider tolerance.
void CheckGradients(const GradientCase& test);

// The model with the gradients of its first output with respect to `wanted` as the only outputs, "d_<name>";
// the weights c are the new input "seed". Runs the ONNX checker over models that the linked onnx knows.
onnx::ModelProto WithGradients(const onnx::ModelProto& model, const std::vector<std::string>& wanted);

}  // namespace ort_ed
