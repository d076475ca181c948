#include "tools/jobs/train/setup/describe_training.h"

#include <filesystem>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "ort_ed/device.h"
#include "runtime/support/version.h"

namespace ort_ed {

std::map<std::string, std::string> FixedOptions(const TrainOptions& options) {
  const Schema& schema = SchemaOf<TrainOptions>();
  std::map<std::string, std::string> fixed;
  for (const auto& [key, value] : GetOptions(schema, &options)) {
    const Option* option = schema.Find(key);
    if (option == nullptr || !option->may_change) fixed[key] = FormatOption(value);
  }
  return fixed;
}

std::string DescribeTraining(const RunSetup& setup, int64_t step) {
  const TrainOptions& options = setup.options;
  const OptionMap chosen = GetOptions(SchemaOf<TrainOptions>(), &options);
  const bool is_file = !options.data.data.starts_with("synth:");
  nlohmann::ordered_json json = {
      {"program", std::string("ort-ed ") + kVersion},
      {"onnxruntime", OnnxRuntimeVersion()},
      {"method", options.contrast.method.kind},
      {"steps", step},
      {"data", is_file ? std::filesystem::path(options.data.data).filename().string() : options.data.data},
      {"data_hash", setup.dataset->hash},
      {"seed", options.batch.seed},
      {"negatives", setup.shape().negatives},
      {"objective", options.objective.kind},
      {"optimizer", FormatOption(chosen.at("optimizer"))},
      {"learning_rate", options.optimizer.learning_rate},
      {"batch_size", options.batch.batch_size},
      {"ema", options.optimizer.ema},
  };
  const auto add = [&](const std::string& key, const OptionValue& value) {
    std::visit(
        [&](const auto& each) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, Nothing>) json[key] = each;
        },
        value);
  };
  for (const char* key : {"w", "energy_l2", "ratio_clip"})
    if (const auto found = chosen.find(key); found != chosen.end()) add(key, found->second);
  for (const auto& [key, value] : setup.negatives->Describe(options.Progress(step))) add(key, value);
  return json.dump();
}

}  // namespace ort_ed
