#include "runtime/support/gate/external_data.h"

#include <algorithm>
#include <filesystem>

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string ExternalLocationProblem(const std::optional<std::string>& folder, const std::string& location) {
  const std::string advice = "outside the model's folder; move the file next to the model";
  if (!folder) return "but was given as bytes, which have no folder; load it from its file";
  if (location.empty()) return "(no location is given)";
  if (fs::path(location).is_absolute()) return "(an absolute path), " + advice;
  std::error_code error;
  const fs::path home = fs::weakly_canonical(fs::absolute(*folder), error);
  const fs::path target = error ? fs::path() : fs::weakly_canonical(home / location, error);
  if (error) return "(" + error.message() + ")";
  if (std::ranges::mismatch(home, target).in1 == home.end()) {
    const fs::file_status status = fs::status(target, error);
    return !fs::exists(status) || fs::is_regular_file(status)
               ? ""
               : "which is no file but a pipe, device or folder";
  }
  return "(a link or path to '" + target.string() + "'), " + advice;
}

std::string ModelFolder(const std::string& path) { return fs::absolute(path).parent_path(); }

}  // namespace ort_ed
