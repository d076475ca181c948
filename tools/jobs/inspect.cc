#include "tools/jobs/inspect.h"

#include <array>
#include <span>
#include <string>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/session.h"
#include "tools/jobs/stopwatch.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/inline_functions.h"

namespace ort_ed {
namespace {

// Makes every node's output an output of the graph; returns their names.
std::vector<std::string> ExposeAll(onnx::GraphProto& graph) {
  graph.clear_output();
  std::vector<std::string> names;
  for (const auto& node : graph.node()) {
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      graph.add_output()->set_name(output);
      names.push_back(output);
    }
  }
  return names;
}

// The shape of every tensor of the main graph when ONNX Runtime scores one row of zeros. Found by running, so
// shapes that the graph computes are known too, whatever the opset.
TensorShapes ShapesOfOneRow(const onnx::ModelProto& model, const EnergyContract& contract,
                            const std::string& name) {
  onnx::ModelProto exposed = model;
  const std::vector<std::string> names = ExposeAll(*exposed.mutable_graph());
  std::vector<const char*> outputs;
  for (const std::string& output : names) outputs.push_back(output.c_str());
  const std::string bytes = SerializeModel(exposed);
  Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, name);

  std::vector<float> row(static_cast<size_t>(contract.dimension));
  const std::array<int64_t, 2> shape = {1, contract.dimension};
  const char* input = contract.input.c_str();
  TensorShapes shapes = {{contract.input, {shape.begin(), shape.end()}}};
  Translated(ErrorCode::kBadModel, "the model '" + name + "' does not run", [&] {
    const Ort::Value x =
        Ort::Value::CreateTensor<float>(HostMemory(), row.data(), row.size(), shape.data(), 2);
    const auto values = session.Run(Ort::RunOptions{nullptr}, &input, &x, 1, outputs.data(), outputs.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].IsTensor()) shapes[names[i]] = values[i].GetTensorTypeAndShapeInfo().GetShape();
    }
  });
  return shapes;
}

// None of a model that cannot be differentiated: `check` says why.
std::vector<BlindSpot> KnownBlindSpots(const LoadedModel& model) {
  try {
    return model.blind_spots();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadModel) throw;
    return {};
  }
}

}  // namespace

InspectResult Inspect(const LoadedModel& model) {
  const Stopwatch stopwatch;
  InspectResult result;
  onnx::ModelProto proto = model.proto();
  const EnergyContract contract = CheckContract(proto, model.name());
  CheckOnnx(proto, model.name());
  InlineFunctions(proto);
  result.summary = Summarise(proto, model.name(), ShapesOfOneRow(proto, contract, model.name()));
  for (const OperatorSummary& op : result.summary.operators)
    result.differentiability.push_back(IsExpanded(op.domain, op.op)
                                           ? Differentiability::kRule
                                           : Classify(op.domain, op.op, result.summary.opset));
  result.blind_spots = KnownBlindSpots(model);
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
