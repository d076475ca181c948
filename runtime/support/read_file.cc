#include "runtime/support/read_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/input_wait.h"

namespace ort_ed {
namespace {

// Closed when it goes.
struct OpenFile {
  explicit OpenFile(const std::string& path) : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const int descriptor;
};

// -1 with errno where reading fails, 0 at the end.
ssize_t ReadSome(int descriptor, std::byte* bytes, size_t count) {
  ssize_t got;
  do {
    got = read(descriptor, bytes, count);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

std::vector<std::byte> ReadFile(const std::string& path, std::string_view what, size_t most) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kIo, "cannot read the " + std::string(what) + " '" + path + "': " + why);
  };
  const InputWait wait;
  const OpenFile file(path);
  if (file.descriptor < 0)
    refuse(errno == ENOENT || errno == ENOTDIR ? "no such file" : "it may not be read");
  struct stat status;
  if (fstat(file.descriptor, &status) != 0) refuse("reading failed");
  if (S_ISDIR(status.st_mode)) refuse("it is a folder; name a file");
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) refuse("it is a device; name a file");
  const std::string too_large = "it has more than " + std::to_string(most) + " bytes";
  if (S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) > most) refuse(too_large);
  constexpr size_t kChunk = 1 << 20;
  // One more than the size, to see the end; a pipe has none.
  std::vector<std::byte> bytes(S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) + 1 : kChunk);
  size_t have = 0;
  while (const ssize_t got = ReadSome(file.descriptor, bytes.data() + have, bytes.size() - have)) {
    if (got < 0) refuse("reading failed");
    have += static_cast<size_t>(got);
    if (have > most) refuse(too_large);
    if (have == bytes.size()) bytes.resize(have + std::max(kChunk, have));
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace ort_ed
