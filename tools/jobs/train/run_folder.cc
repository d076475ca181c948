#include "tools/jobs/train/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/list_folder.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/event_file.h"
#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

bool IsRunFolder(const std::string& folder) { return fs::is_regular_file(folder + "/" + run_file::kConfig); }

// Other programs have a config.toml, too, and who writes settings for a run to come may call them so: it must
// be what a run wrote down, which names every setting, before anything is removed.
bool MayBeReplaced(const std::string& folder) {
  constexpr const char* kAlwaysThere[] = {"data",      "seed",    "batch_size",       "device",
                                          "log_every", "threads", "checkpoint_every", "keep_checkpoints"};
  if (!IsRunFolder(folder)) return false;
  try {
    GivenOptions given;
    ReadToml(folder + "/" + run_file::kConfig, SchemaOf<TrainOptions>(), given);
    return std::ranges::all_of(kAlwaysThere, [&](const char* key) { return given.Has(key); });
  } catch (const Error&) {
    return false;
  }
}

void AddMatching(const fs::path& folder, bool (*matches)(const std::string& name),
                 std::vector<fs::path>& files) {
  if (!fs::is_directory(folder)) return;
  for (const std::string& name : ListFolder(folder))
    if (matches(name) && !fs::is_directory(folder / name)) files.push_back(folder / name);
}

bool IsOfARun(const std::string& name) {
  return name == run_file::kConfig || name == run_file::kVariables || name == run_file::kModel ||
         name == run_file::kBestModel || name == run_file::kPolicy || name == run_file::kAloe ||
         name == run_file::kCurves || name == MetricsLog::FileName() || IsEventFile(name);
}

bool IsCheckpoint(const std::string& name) {
  constexpr std::string_view kStart = "step-", kEnd = ".ckpt";
  return name.size() > kStart.size() + kEnd.size() && name.starts_with(kStart) && name.ends_with(kEnd) &&
         name.find_first_not_of("0123456789", kStart.size()) == name.size() - kEnd.size();
}

// Those that ClearRun() removes, beside temporary ones.
std::vector<fs::path> FilesOfRun(const std::string& folder) {
  std::vector<fs::path> files;
  if (const std::string base = folder + "/" + run_file::kBase; MayBeReplaced(base)) files = FilesOfRun(base);
  AddMatching(fs::path(folder) / run_file::kCheckpoints, IsCheckpoint, files);
  AddMatching(folder, IsOfARun, files);
  return files;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot open the folder '{}': {}", folder, std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return;  // some file systems cannot lock
  close(descriptor_);
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("another process is training in '{}'; wait for it or choose another folder", folder));
}

FolderLock::~FolderLock() { close(descriptor_); }

void CheckUnused(const std::string& folder, ExistingRun existing) {
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a file; name a folder for the run", folder));
  if (fs::is_empty(folder) || (existing == ExistingRun::kReplace && MayBeReplaced(folder))) return;
  if (existing == ExistingRun::kReplace)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not empty and no run directory; choose another folder", folder));
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{0}' is not empty; go on with its run (--resume {0}), replace it (--force), or choose "
                  "another folder",
                  folder));
}

void MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder '{}': {}", folder, error.message()));
}

void CheckNotCleared(const TrainOptions& options, const std::string& folder) {
  const std::vector<fs::path> files = FilesOfRun(folder);
  std::error_code no_file;
  for (const auto& [key, value] : GetOptions(SchemaOf<TrainOptions>(), &options)) {
    const std::string path = FormatOption(value);
    if (!fs::exists(path, no_file)) continue;
    for (const fs::path& file : files)
      if (fs::equivalent(path, file, no_file))
        throw OptionError(key,
                          fmt::format("reads '{}', a file of the run in '{}' that is to be replaced; copy it "
                                      "elsewhere or choose another folder",
                                      path, folder));
  }
}

void ClearRun(const std::string& folder) {
  if (const std::string base = folder + "/" + run_file::kBase; MayBeReplaced(base))
    RemoveTemporaryFiles(base);
  RemoveTemporaryFiles(folder);
  for (const fs::path& file : FilesOfRun(folder)) fs::remove(file);
}

std::vector<std::string> RecordsOfRun(const std::string& folder) {
  std::vector<std::string> records;
  for (const fs::path& file : FilesOfRun(folder)) {
    const std::string name = file.filename();
    if (name != run_file::kModel && name != run_file::kBestModel && name != run_file::kCurves)
      records.push_back(file);
  }
  return records;
}

void RequireRunFolder(const std::string& folder) {
  if (!IsRunFolder(folder))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a run directory: it has no {}", folder, run_file::kConfig));
}

void RemoveTemporaryFiles(const std::string& folder) {
  RemoveAbandonedIn(folder);
  RemoveAbandonedIn(folder + "/" + run_file::kCheckpoints);
}

}  // namespace ort_ed
