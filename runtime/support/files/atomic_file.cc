#include "runtime/support/files/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/files/list_folder.h"
#include "runtime/support/peer_wait.h"

namespace ort_ed {
namespace {

// Between the name of a file and the letters that make its temporary name unique. Nobody else's file is
// called that.
constexpr std::string_view kInfix = ".ort-ed-tmp-";
constexpr size_t kSuffix = 6;
constexpr size_t kLongestName = 255;

std::atomic<bool> write_no_files = false;

// Temporary files of this program.
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> paths;
};

Unfinished& GetUnfinished() {
  static auto* const unfinished = new Unfinished;  // never destroyed: threads may outlive main()
  return *unfinished;
}

// Asks for no memory while it holds the lock: whoever ends the program for a lack of it comes here, too.
void AddUnfinished(const std::string& path) {
  std::set<std::string> added = {path};
  Unfinished& unfinished = GetUnfinished();
  const std::lock_guard lock(unfinished.mutex);
  unfinished.paths.merge(added);
}

void DropUnfinished(const std::string& path) {
  Unfinished& unfinished = GetUnfinished();
  const std::lock_guard lock(unfinished.mutex);
  unfinished.paths.erase(path);
}

[[noreturn]] void ThrowIo(const std::string& what, const std::string& path) {
  const int error = errno;
  std::string advice;
  if (error == ENOSPC || error == EDQUOT) advice = "; free some space or write elsewhere";
  if (error == EACCES || error == EROFS) advice = "; choose a folder you may write to";
  if (error == ENOENT) advice = "; the folder does not exist";
  throw Error(ErrorCode::kIo, "cannot " + what + " '" + path + "': " + std::strerror(error) + advice);
}

std::string GetFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

void SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

// The file that is meant: a link stays a link, and one that leads nowhere is nobody's to replace.
std::string BehindLinks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error)
    throw Error(ErrorCode::kIo, "cannot write '" + path + "': it is a link to '" +
                                    std::filesystem::read_symlink(path, error).string() +
                                    "', which does not exist; remove the link or name another file");
  return target;
}

// Where the name of a temporary file of `path` ends but for its last letters: cut where it would be too
// long.
std::string TemporaryStem(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string().substr(0, kLongestName - kInfix.size() - kSuffix);
  return (file.parent_path() / (name + std::string(kInfix))).string();
}

// As mkostemp(), with the mode that new files of this process have: what mkostemp() makes is for its owner
// only, and the umask cannot be read without changing it for all threads.
int OpenNew(std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    for (size_t i = name.size() - kSuffix; i < name.size(); ++i)
      name[i] = kLetters[random() % kLetters.size()];
    const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// None where they may not be seen.
std::vector<std::string> NamesIn(const std::string& folder) {
  try {
    return ListFolder(folder);
  } catch (const Error&) {
    return {};
  }
}

bool IsPlainFile(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Those whose path begins with `stem` and that nobody holds.
void RemoveAbandoned(const std::string& stem, const std::string& folder) {
  const std::string start = std::filesystem::path(stem).filename().string();
  for (const std::string& name : NamesIn(folder)) {
    const std::string path = folder + "/" + name;
    if (!name.starts_with(start) || !IsTemporaryName(name) || !IsPlainFile(path)) continue;
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
    close(descriptor);
  }
}

}  // namespace

// From the first constructor on the destructor is called, whatever fails here.
AtomicFile::AtomicFile(const std::string& path) : AtomicFile() {
  if (write_no_files) return;
  // Elsewhere that is the standard output, which cannot be written at once or not at all.
  if (path == "-") throw Error(ErrorCode::kIo, "cannot write to the standard output here; name a file");
  path_ = BehindLinks(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw Error(ErrorCode::kIo, "cannot write '" + path_ + "': it is a folder; name a file");
  // Renaming over a device such as /dev/null would replace it for the whole system.
  struct stat existing;
  const bool exists = stat(path_.c_str(), &existing) == 0;
  if (!exists && errno == ENAMETOOLONG) ThrowIo("write", path_);
  if (exists && !S_ISREG(existing.st_mode))
    throw Error(ErrorCode::kIo, "cannot write '" + path_ + "': it is a device or pipe; name a file");
  // Renaming would replace it all the same.
  if (exists && faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0)
    throw Error(ErrorCode::kIo, "cannot write '" + path_ + "': it is write-protected (" +
                                    std::strerror(errno) + "); remove it or name another file");
  RemoveAbandoned(TemporaryStem(path_), GetFolder(path_));
  Open();
  if (exists) fchmod(descriptor_, existing.st_mode & 07777);  // it keeps its mode
}

// Locked, which tells RemoveAbandoned() that somebody is here. Whoever came in between has removed it.
void AtomicFile::Open() {
  temporary_ = TemporaryStem(path_) + std::string(kSuffix, 'X');
  for (;;) {
    descriptor_ = OpenNew(temporary_);
    if (descriptor_ < 0) ThrowIo("write", path_);
    flock(descriptor_, LOCK_EX | LOCK_NB);
    struct stat status;
    if (fstat(descriptor_, &status) != 0 || status.st_nlink > 0) break;
    close(descriptor_);
  }
  AddUnfinished(temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
  DropUnfinished(temporary_);
}

void AtomicFile::Write(const void* bytes, size_t size) {
  const char* position = static_cast<const char*>(bytes);
  while (size > 0 && descriptor_ >= 0) {
    const ssize_t written = write(descriptor_, position, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowIo("write", path_);
    position += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::WriteAt(uint64_t offset, std::string_view text) {
  while (!text.empty() && descriptor_ >= 0) {
    const ssize_t written = pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowIo("write", path_);
    text.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void AtomicFile::Commit() {
  if (descriptor_ < 0) return;
  PipeEnd::Check();
  if (fsync(descriptor_) != 0) ThrowIo("write", path_);
  if (close(std::exchange(descriptor_, -1)) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    DropUnfinished(temporary_);
    errno = error;
    ThrowIo("write", path_);
  }
  DropUnfinished(temporary_);
  SyncFolder(GetFolder(path_));
}

bool IsTemporaryName(std::string_view name) {
  const size_t infix = name.rfind(kInfix);
  return infix != std::string_view::npos && name.size() == infix + kInfix.size() + kSuffix;
}

void RemoveAbandonedIn(const std::string& folder) { RemoveAbandoned("", folder); }

void RemoveUnfinished() noexcept {
  Unfinished& unfinished = GetUnfinished();
  const std::lock_guard lock(unfinished.mutex);
  for (const std::string& path : unfinished.paths) unlink(path.c_str());
}

void WriteNoFiles() { write_no_files = true; }

void WriteFileAtomically(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.Write(contents);
  file.Commit();
}

}  // namespace ort_ed
