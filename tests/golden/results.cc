#include "tests/golden/results.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <span>
#include <vector>

#include <onnx/onnx_pb.h>
#include <zlib.h>

#include "models/graph/model_file.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {
namespace {

using nlohmann::json;

std::string Crc(std::string_view bytes) {
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc));
  return text;
}

template <typename Values>
std::string AsBytes(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(*values.data())};
}

// Wherever in the tensor they are.
std::string ValueBytes(const onnx::TensorProto& tensor) {
  return tensor.raw_data() + AsBytes(tensor.float_data()) + AsBytes(tensor.int64_data());
}

std::vector<onnx::TensorProto> SortedInitializers(const std::string& path) {
  const onnx::ModelProto model = LoadModel(path);
  std::vector<onnx::TensorProto> tensors(model.graph().initializer().begin(),
                                         model.graph().initializer().end());
  std::ranges::sort(tensors, {}, [](const onnx::TensorProto& tensor) { return tensor.name(); });
  return tensors;
}

std::string InitializersCrc(const std::string& path) {
  std::string bytes;
  for (const onnx::TensorProto& tensor : SortedInitializers(path))
    bytes += tensor.name() + '\0' + AsBytes(tensor.dims()) + ValueBytes(tensor);
  return Crc(bytes);
}

// Without single numbers: a constant of the energy has no gradient but rounding, which Adam magnifies.
double SumOfAbsoluteWeights(const std::string& path) {
  double sum = 0;
  for (const onnx::TensorProto& tensor : SortedInitializers(path)) {
    const std::string bytes = ValueBytes(tensor);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(values.data()));
    if (tensor.data_type() != onnx::TensorProto::FLOAT || values.size() == 1) continue;
    for (const float value : values) sum += std::abs(static_cast<double>(value));
  }
  return sum;
}

// Removes what depends on the clock or the place.
void RemovePassing(json& object) {
  for (const char* key : {"model", "run", "data", "output", "time", "seconds", "rows_per_second",
                          "steps_per_second", "ess_per_second", "program", "onnxruntime"})
    object.erase(key);
  for (json& value : object)
    if (value.is_object()) RemovePassing(value);
}

json MetricsOf(const std::string& run) {
  json lines = json::array();
  std::ifstream file(run + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line));
    RemovePassing(lines.back());
    // Told beside what was recorded; tests of their own compare them with enumeration.
    for (const char* key : {"validation_nll", "validation_nll_rough", "validation_effective_draws"})
      lines.back().erase(key);
  }
  return lines;
}

}  // namespace

GoldenResult TrainedRun(const Workshop& workshop, const std::string& name, const std::string& printed) {
  const std::string run = workshop.Path(name);
  const json summary = json::parse(printed);
  return {.bits = {{"model", InitializersCrc(run + "/model.onnx")},
                   {"best", InitializersCrc(run + "/best.onnx")},
                   {"metrics", Crc(MetricsOf(run).dump())}},
          .values = {{"loss", summary.at("loss")},
                     {"validation_loss", summary.at("validation_loss")},
                     {"weights", SumOfAbsoluteWeights(run + "/model.onnx")}}};
}

GoldenResult Model(const Workshop& workshop, const std::string& name, const std::string&) {
  const std::string path = workshop.Path(name + ".onnx");
  return {.bits = InitializersCrc(path), .values = SumOfAbsoluteWeights(path)};
}

GoldenResult DrawnRows(const Workshop& workshop, const std::string& name, const std::string& printed) {
  const RowTable rows = ReadRows(workshop.Path(name + ".npy"));
  const double ones = std::accumulate(rows.values.begin(), rows.values.end(), 0.0);
  GoldenResult result{.bits = {{"rows", Crc(AsBytes(rows.values))}},
                      .values = {{"rows", rows.rows},
                                 {"columns", rows.columns},
                                 {"mean", ones / static_cast<double>(rows.values.size())}}};
  if (printed.empty()) return result;
  result.bits["printed"] = json::parse(printed);
  RemovePassing(result.bits["printed"]);
  return result;
}

GoldenResult Printed(const Workshop&, const std::string&, const std::string& printed) {
  json values = json::parse(printed);
  constexpr char kTraining[] = "ort_ed.training";
  if (values.contains("metadata") && values["metadata"].contains(kTraining))
    values["metadata"][kTraining] = json::parse(values["metadata"][kTraining].get<std::string>());
  // Text of computed numbers: another processor rounds otherwise.
  if (values.contains("metadata")) values["metadata"].erase("ort_ed.energy_quantiles");
  RemovePassing(values);
  return {.bits = nullptr, .values = std::move(values)};
}

}  // namespace ort_ed
