#include "tools/output_paths.h"

#include <filesystem>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "tools/command.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

struct NamedPath {
  std::string name, path;
};

std::vector<NamedPath> Given(const argparse::ArgumentParser& arguments,
                             std::initializer_list<const char*> names) {
  std::vector<NamedPath> given;
  for (const char* name : names)
    if (arguments.is_used(name)) given.push_back({name, arguments.get(name)});
  return given;
}

bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error);
}

bool HasJson(const argparse::ArgumentParser& arguments) {
  try {
    return arguments.get<bool>("--json");
  } catch (const std::logic_error&) {  // the command has no such option
    return false;
  }
}

}  // namespace

void CheckOutputPaths(const argparse::ArgumentParser& arguments, std::initializer_list<const char*> outputs,
                      std::initializer_list<const char*> inputs) {
  const std::vector<NamedPath> written = Given(arguments, outputs), read = Given(arguments, inputs);
  for (size_t i = 0; i < written.size(); ++i) {
    const auto& [name, path] = written[i];
    if (path == "-" && HasJson(arguments))
      throw UsageError(fmt::format("--json and {} - would both write to stdout; choose one", name));
    for (size_t j = 0; j < i; ++j) {
      if (path == written[j].path ||
          (path != "-" && written[j].path != "-" && SameFile(path, written[j].path)))
        throw UsageError(fmt::format("{} and {} would both write to '{}'", written[j].name, name, path));
    }
    for (const NamedPath& input : read) {
      if (path != "-" && input.path != "-" && SameFile(path, input.path))
        throw UsageError(fmt::format("{} would overwrite '{}', which is read ({}); name another file", name,
                                     path, input.name));
    }
  }
}

std::string PicturePath(const std::string& path) {
  if (!path.ends_with(".png"))
    throw UsageError(fmt::format("'{}' is no name of a picture; end it with .png", path));
  return path;
}

}  // namespace ort_ed
