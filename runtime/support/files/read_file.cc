#include "runtime/support/files/read_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/peer_wait.h"

namespace ort_ed {
namespace {

// Closed when it goes.
struct OpenFile {
  OpenFile(const std::string& path, int flags)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {}
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

enum class Kinds { kFileOrPipe, kFile };

[[noreturn]] void Refuse(const std::string& path, std::string_view what, const std::string& why) {
  throw Error(ErrorCode::kIo, "cannot read the " + std::string(what) + " '" + path + "': " + why);
}

// Why a file of that mode is not read; empty where it is.
std::string KindProblem(mode_t mode, Kinds kinds) {
  if (S_ISDIR(mode)) return "it is a folder; name a file";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "it is a device; name a file";
  if (kinds == Kinds::kFile && !S_ISREG(mode)) return "it is a pipe or socket; put a file there";
  return "";
}

std::vector<std::byte> Read(const std::string& path, std::string_view what, size_t most, Kinds kinds) {
  const auto refuse = [&](const std::string& why) { Refuse(path, what, why); };
  const PeerWait wait;
  // Opening a pipe would wait for somebody who writes to it.
  const OpenFile file(path, kinds == Kinds::kFile ? O_NONBLOCK : 0);
  if (file.descriptor < 0)
    refuse(errno == ENOENT || errno == ENOTDIR ? "no such file" : "it may not be read");
  struct stat status;
  if (fstat(file.descriptor, &status) != 0) refuse("reading failed");
  if (const std::string problem = KindProblem(status.st_mode, kinds); !problem.empty()) refuse(problem);
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
  if (!S_ISREG(status.st_mode)) PipeEnd::Note();
  bytes.resize(have);
  return bytes;
}

}  // namespace

std::vector<std::byte> ReadFile(const std::string& path, std::string_view what, size_t most) {
  return Read(path, what, most, Kinds::kFileOrPipe);
}

std::vector<std::byte> ReadRegularFile(const std::string& path, std::string_view what, size_t most) {
  return Read(path, what, most, Kinds::kFile);
}

void RequireRegularFile(const std::string& path, std::string_view what) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    Refuse(path, what, errno == ENOENT || errno == ENOTDIR ? "no such file" : "it may not be read");
  if (const std::string problem = KindProblem(status.st_mode, Kinds::kFile); !problem.empty())
    Refuse(path, what, problem);
}

}  // namespace ort_ed
