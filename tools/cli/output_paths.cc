#include "tools/cli/output_paths.h"

#include <filesystem>

#include <spdlog/fmt/fmt.h>

#include "ort_ed/options.h"
#include "tools/jobs/files_behind.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

constexpr char kStandardStream[] = "-";

bool SameFile(const std::string& a, const std::string& b) {
  if (a == kStandardStream || b == kStandardStream) return a == b;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error);
}

[[noreturn]] void RefuseToOverwrite(const PathOption& output, const PathOption& input) {
  throw OptionError(output.key, fmt::format("would overwrite '{}', which is read ({}); name another file",
                                            output.path, input.key));
}

// Of files that are not there none is read, which saves looking into models.
void CheckFilesBehind(const PathOption& output, const PathOption& input) {
  std::error_code none;
  if (!input.has_files || !fs::exists(output.path, none)) return;
  for (const std::string& file : FilesBehind(input.path))
    if (SameFile(output.path, file)) RefuseToOverwrite(output, input);
}

void CheckOutput(const PathOption& output, const std::vector<PathOption>& others,
                 const std::vector<PathOption>& inputs, bool json) {
  if (output.path == kStandardStream && json)
    throw OptionError(output.key, "- and --json would both write to stdout; choose one");
  for (const PathOption& other : others) {
    if (&other == &output) break;
    if (!other.path.empty() && SameFile(output.path, other.path))
      throw OptionError(output.key, fmt::format("would write to '{}' as {} does", output.path, other.key));
  }
  for (const PathOption& input : inputs) {
    if (input.path.empty() || output.path == kStandardStream) continue;
    if (SameFile(output.path, input.path)) RefuseToOverwrite(output, input);
    CheckFilesBehind(output, input);
  }
}

}  // namespace

void CheckOutputPaths(const std::vector<PathOption>& outputs, const std::vector<PathOption>& inputs,
                      bool json) {
  for (const PathOption& output : outputs)
    if (!output.path.empty()) CheckOutput(output, outputs, inputs, json);
}

std::string PicturePath(const std::string& key, const std::string& path) {
  if (!path.ends_with(".png"))
    throw OptionError(key, fmt::format("must name a picture, which ends in .png, not '{}'", path));
  return path;
}

}  // namespace ort_ed
