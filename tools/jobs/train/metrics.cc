#include "tools/jobs/train/metrics.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/list_folder.h"
#include "runtime/support/files/read_file.h"
#include "tools/jobs/train/run_folder.h"

namespace ort_ed {
namespace {

std::string ToJson(const MetricsLine& line) {
  nlohmann::ordered_json json = {{"step", line.step}, {"time", line.time}};
  for (const auto& [name, value] : line.values) json[name] = value;
  return json.dump() + "\n";
}

MetricsLine FromJson(std::string_view text) {
  MetricsLine line;
  const auto json = nlohmann::ordered_json::parse(text);
  for (const auto& [key, value] : json.items()) {
    if (key == "step") {
      line.step = value.get<int64_t>();
    } else if (key == "time") {
      line.time = value.get<double>();
    } else if (!value.is_null()) {  // JSON has no word for infinity and NaN
      line.values.emplace_back(key, value.get<double>());
    }
  }
  return line;
}

struct FormerEvents {
  std::set<std::filesystem::path> files;
  std::map<std::filesystem::path, std::filesystem::path> damaged;  // and what they will be called
  std::vector<std::string> pictures;                               // of steps up to the last
};

// Not that of one that was damaged before and came back from a copy.
std::filesystem::path NameForDamaged(const std::filesystem::path& file) {
  const std::string name = DamagedName(file.filename().string());
  std::filesystem::path free = file.parent_path() / name;
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(free)); ++i)
    free = file.parent_path() / fmt::format("{}.{}", name, i);
  return free;
}

// A process that was killed here may have left two files with the same pictures.
FormerEvents ReadEventFiles(const std::string& folder, int64_t last_step) {
  FormerEvents events;
  for (const std::string& name : ListFolder(folder))
    if (IsEventFile(name)) events.files.insert(std::filesystem::path(folder) / name);
  std::set<std::string> known;
  for (const auto& file : events.files) {
    Pictures pictures = ReadPictures(file.string(), last_step);
    if (pictures.damaged) events.damaged[file] = NameForDamaged(file);
    for (std::string& record : pictures.records)
      if (known.insert(record).second) events.pictures.push_back(std::move(record));
  }
  return events;
}

// A damaged one stays under another name: somebody may want what is left of it.
void RemoveEventFiles(const FormerEvents& events) {
  for (const auto& file : events.files) {
    if (const auto damaged = events.damaged.find(file); damaged != events.damaged.end()) {
      std::filesystem::rename(file, damaged->second);
    } else {
      std::filesystem::remove(file);
    }
  }
}

}  // namespace

MetricsLog::MetricsLog(const std::string& folder, int64_t last_step) : path_(folder + "/" + FileName()) {
  std::vector<MetricsLine> kept = ReadMetrics(path_);
  const FormerEvents former = ReadEventFiles(folder, last_step);
  std::erase_if(kept, [&](const MetricsLine& line) { return line.step > last_step; });
  WriteEvents(folder, kept, former.pictures);
  RemoveEventFiles(former);
  for (const auto& [file, name] : former.damaged)
    warnings_.push_back(fmt::format("'{}' is damaged: pictures of the run are lost; what is left is in '{}'",
                                    file.string(), name.filename().string()));

  std::string text;
  for (const MetricsLine& line : kept) text += ToJson(line);
  WriteFileAtomically(path_, text);
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

// Whole, or not there.
void MetricsLog::WriteEvents(const std::string& folder, const std::vector<MetricsLine>& lines,
                             const std::vector<std::string>& pictures) {
  events_ = std::make_unique<EventFile>(folder);
  try {
    for (const MetricsLine& line : lines) events_->Append(line.step, line.time, line.values);
    for (const std::string& picture : pictures) events_->AppendRecord(picture);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(events_->path(), ignored);
    throw;
  }
}

void MetricsLog::Append(const MetricsLine& line) {
  const std::string text = ToJson(line);
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
  events_->Append(line.step, line.time, line.values);
}

std::vector<MetricsLine> ReadMetrics(const std::string& path) {
  std::vector<MetricsLine> lines;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return lines;
  const auto bytes = ReadRegularFile(path, "metrics");
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // What has no end of line was cut short.
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    try {
      lines.push_back(FromJson(rest.substr(0, end)));
    } catch (const nlohmann::json::exception& error) {
      throw Error(ErrorCode::kBadData,
                  fmt::format("{}:{}: not a line of metrics: {}; repair or remove the line", path,
                              lines.size() + 1, error.what()));
    }
  }
  return lines;
}

RunMetrics ReadRunMetrics(const std::string& folder) {
  const auto read = [](const std::string& phase) {
    return ReadMetrics(phase + "/" + MetricsLog::FileName());
  };
  return {.run = read(folder), .base = read(folder + "/" + run_file::kBase)};
}

int64_t LastStep(const std::vector<MetricsLine>& metrics) {
  return metrics.empty() ? 0 : metrics.back().step;
}

std::optional<double> SecondsOfSteps(const std::vector<MetricsLine>& metrics) {
  double seconds = 0;
  int64_t before = 0;
  for (const MetricsLine& line : metrics) {
    for (const auto& [name, rate] : line.values) {
      if (name != "steps_per_second" || !(rate > 0)) continue;
      seconds += static_cast<double>(line.step - before) / rate;
      before = line.step;
    }
  }
  return before > 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<double> SecondsOfRun(const RunMetrics& metrics) {
  const std::optional<double> base = SecondsOfSteps(metrics.base), run = SecondsOfSteps(metrics.run);
  if (!base && !run) return std::nullopt;
  return base.value_or(0) + run.value_or(0);
}

}  // namespace ort_ed
