#include "tools/jobs/sample/policy_session.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr int64_t kRowsAtOnce = 4096;  // more gain nothing, and their activations take memory

onnx::ModelProto KeepOutputs(onnx::ModelProto model, const std::vector<std::string>& outputs) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> needed(outputs.begin(), outputs.end());
  auto nodes = std::move(*graph.mutable_node());
  for (int i = nodes.size() - 1; i >= 0; --i) {
    const bool used =
        std::ranges::any_of(nodes[i].output(), [&](const auto& o) { return needed.contains(o); });
    if (used)
      needed.insert(nodes[i].input().begin(), nodes[i].input().end());
    else
      nodes.DeleteSubrange(i, 1);
  }
  *graph.mutable_node() = std::move(nodes);
  const auto drop = [&](auto& list) {
    for (int i = list.size() - 1; i >= 0; --i)
      if (!needed.contains(list[i].name())) list.DeleteSubrange(i, 1);
  };
  drop(*graph.mutable_initializer());
  drop(*graph.mutable_output());
  graph.clear_value_info();
  return model;
}

Ort::Session Open(const onnx::ModelProto& model, const std::string& name, int threads) {
  const std::string bytes = SerializeModel(model);
  return OpenSession(std::as_bytes(std::span(bytes)), MakeSessionOptions({}, threads), name);
}

}  // namespace

PolicySession::PolicySession(const onnx::ModelProto& model, const std::string& name,
                             std::vector<std::string> outputs, int threads)
    : name_(name),
      input_(model.graph().input(0).name()),
      outputs_(std::move(outputs)),
      dimension_(model.graph().input(0).type().tensor_type().shape().dim(1).dim_value()),
      session_(Open(KeepOutputs(model, outputs_), name, threads)) {}

void PolicySession::Run(std::span<const float> rows, std::initializer_list<std::span<float>> numbers) const {
  const int64_t count = std::ssize(rows) / dimension_;
  for (int64_t first = 0; first < count; first += kRowsAtOnce) {
    const int64_t now = std::min(kRowsAtOnce, count - first);
    const auto results = RunSome(rows.subspan(first * dimension_, now * dimension_));
    for (size_t k = 0; k < results.size(); ++k) {
      const std::span<float> to = numbers.begin()[k];
      const int64_t width = std::ssize(to) / count;
      const auto info = results[k].GetTensorTypeAndShapeInfo();
      if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT ||
          std::cmp_not_equal(info.GetElementCount(), now * width))
        throw Error(ErrorCode::kBadModel,
                    fmt::format("the output {} of '{}' must have {} numbers for each row", outputs_[k], name_,
                                width));
      std::copy_n(results[k].GetTensorData<float>(), now * width, to.begin() + first * width);
    }
  }
}

std::vector<Ort::Value> PolicySession::RunSome(std::span<const float> rows) const {
  const std::array<int64_t, 2> shape = {std::ssize(rows) / dimension_, dimension_};
  auto* const from = const_cast<float*>(rows.data());  // ONNX Runtime does not write to inputs
  const Ort::Value input =
      Ort::Value::CreateTensor<float>(HostMemory(), from, rows.size(), shape.data(), shape.size());
  const char* const input_name = input_.c_str();
  std::vector<const char*> outputs;
  for (const std::string& output : outputs_) outputs.push_back(output.c_str());
  return Translated(ErrorCode::kRuntime, "running the policy '" + name_ + "' failed", [&] {
    return session_.Run(Ort::RunOptions(), &input_name, &input, 1, outputs.data(), outputs.size());
  });
}

}  // namespace ort_ed
