#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ort_ed {

// An option that holds a path; empty: it was not given.
struct PathOption {
  std::string key, path;
  bool has_files = false;  // a model or a run, which other files may belong to
};

// An option that names a model or a run.
inline PathOption ModelOption(std::string key, std::string path) {
  return {std::move(key), std::move(path), true};
}

// Refuses outputs that would overwrite an input, a file that belongs to one, or one another, and more than
// one result on the standard output (`json`: there is one already). Throws OptionError.
void CheckOutputPaths(const std::vector<PathOption>& outputs, const std::vector<PathOption>& inputs,
                      bool json = false);

// The path of a picture, which must end in .png: one that does not is likely a file that shall stay. Throws
// OptionError of `key`.
std::string PicturePath(const std::string& key, const std::string& path);

}  // namespace ort_ed
