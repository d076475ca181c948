#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// A run directory:
//   config.toml          the resolved configuration; `ort-ed train --config` with it repeats the run
//   variables.toml       what the columns of a table are, for `ort-ed train --variables`; only of tables
//   metrics.jsonl        one JSON object per line
//   events.out.tfevents* the same for TensorBoard
//   checkpoints/         step-<N>.ckpt, the newest few
//   model.onnx           the deployable model as of the newest checkpoint
//   best.onnx            the same as of the best validation
//   base/                the same of the first phase, where the base distribution is learned
//   policy.onnx          eb-gfn: the network that drew the negatives, as of the newest checkpoint
//   aloe.onnx            the same with aloe
//   curves.png           the metrics as a picture, drawn by the front end
namespace run_file {
inline constexpr char kConfig[] = "config.toml";
inline constexpr char kVariables[] = "variables.toml";
inline constexpr char kModel[] = "model.onnx";
inline constexpr char kBestModel[] = "best.onnx";
inline constexpr char kPolicy[] = "policy.onnx";
inline constexpr char kAloe[] = "aloe.onnx";
inline constexpr char kCurves[] = "curves.png";
inline constexpr char kCheckpoints[] = "checkpoints";
inline constexpr char kBase[] = "base";
}  // namespace run_file

struct TrainOptions;

enum class ExistingRun { kRefuse, kReplace };

// Only one process at a time trains in a run directory; the lock ends with the process, however it ends.
class FolderLock {
 public:
  // Throws kInvalidArgument if another process holds it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Throws kInvalidArgument if `folder` exists and is not empty; with kReplace, only if it is no run directory.
void CheckUnused(const std::string& folder, ExistingRun existing);

void MakeFolder(const std::string& folder);

// Throws OptionError where an option names a file that ClearRun() would remove.
void CheckNotCleared(const TrainOptions& options, const std::string& folder);

// Removes the files of a run, and nothing else.
void ClearRun(const std::string& folder);

// The files that a run cannot do without and that are not made anew: all but its models and picture.
std::vector<std::string> RecordsOfRun(const std::string& folder);

// Throws kInvalidArgument if `folder` is not a run directory.
void RequireRunFolder(const std::string& folder);

// Removes what a killed process left of files it was writing.
void RemoveTemporaryFiles(const std::string& folder);

}  // namespace ort_ed
