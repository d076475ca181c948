#include "runtime/support/files/list_folder.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include <dirent.h>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

[[noreturn]] void ThrowUnreadable(const std::string& folder) {
  const int error = errno;
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::kIo, "cannot read the folder '" + folder + "': " + std::strerror(error));
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::vector<std::string> ListFolder(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  if (!open) ThrowUnreadable(folder);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr && errno != 0) ThrowUnreadable(folder);
    if (entry == nullptr) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace ort_ed
