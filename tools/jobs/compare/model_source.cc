#include "tools/jobs/compare/model_source.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/graph/model_edits.h"
#include "ort_ed/error.h"
#include "runtime/support/text.h"
#include "tools/jobs/settings/json_object.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

// The members of a JSON object as text; nothing of what is none.
void AddMembers(const std::string& text, std::map<std::string, std::string>& settings) {
  const auto json = ParseJsonObject(text);
  if (!json) return;
  for (const auto& [key, value] : json->items())
    settings[key] = value.is_string()
                        ? value.get<std::string>()
                        : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::map<std::string, std::string> SettingsOfRun(const std::string& folder) {
  TrainOptions options;
  ReadRunOptions(folder).ApplyTo(options);
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : GetOptions(SchemaOf<TrainOptions>(), &options))
    settings[key] = FormatOption(value);
  return settings;
}

// The base of an autoregressive model is the model itself.
bool IsOnLearnedBase(const ModelMetadata& metadata) {
  return metadata.base.has_value() && metadata.architecture != "made";
}

std::string ModelPath(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  RequireRunFolder(path);
  for (const char* file : {run_file::kBestModel, run_file::kModel})
    if (const std::string model = path + "/" + file; std::filesystem::is_regular_file(model)) return model;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("the run '{}' has no model yet", path));
}

}  // namespace

std::string DescribeSteps(const TrainingCost& cost) {
  if (!cost.steps) return "";
  if (cost.base_steps) return fmt::format("base {} + {}", *cost.base_steps, *cost.steps);
  return fmt::format("{}{}", cost.on_learned_base ? "base ? + " : "", *cost.steps);
}

std::string ModelSource::ShortName() const {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

std::map<std::string, std::string> SettingsOfModel(const ModelMetadata& metadata) {
  std::map<std::string, std::string> settings;
  if (!metadata.architecture.empty()) settings["model"] = metadata.architecture;
  for (const char* key : {metadata_key::kArchitectureOptions, metadata_key::kTraining})
    if (const auto found = metadata.raw.find(key); found != metadata.raw.end())
      AddMembers(found->second, settings);
  return settings;
}

int64_t CountParameters(const LoadedModel& model) {
  int64_t count = 0;
  for (const onnx::TensorProto& tensor : model.proto().graph().initializer())
    if (tensor.data_type() == onnx::TensorProto::FLOAT) count += ElementCount(tensor);
  return count;
}

ModelSource OpenSource(const std::string& path, const LoadOptions& load) {
  const std::string file = ModelPath(path);
  ModelSource source{.name = path,
                     .file = file,
                     .is_run = std::filesystem::is_directory(path),
                     .model = LoadedModel(file, load),
                     .metrics = {},
                     .settings = {},
                     .step = {},
                     .cost = {}};
  source.settings = SettingsOfModel(source.model.metadata());
  if (const auto steps = source.settings.find("steps"); steps != source.settings.end())
    source.step = ParseInteger(steps->second);
  source.cost = {.steps = source.step, .on_learned_base = IsOnLearnedBase(source.model.metadata())};
  if (!source.is_run) return source;
  source.settings = SettingsOfRun(path);
  source.settings["file"] = std::filesystem::path(file).filename().string();
  source.metrics = ReadRunMetrics(path);
  if (!source.metrics.run.empty()) source.cost.steps = LastStep(source.metrics.run);
  if (!source.metrics.base.empty()) source.cost.base_steps = LastStep(source.metrics.base);
  source.cost.seconds = SecondsOfRun(source.metrics);
  return source;
}

}  // namespace ort_ed
