#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ort_ed {

// A file that appears whole or not at all: written under a temporary name in the same folder, synced, then
// renamed over `path` by Commit(). Destroyed without Commit() it leaves nothing behind; what a program that
// was killed left of `path` goes first. Errors (full disk, no permission) throw kIo and name `path`.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(const void* bytes, size_t size);
  void Write(std::string_view text) { Write(text.data(), text.size()); }
  // Overwrites what was written at `offset`, e.g. a header whose row count is known only at the end.
  void WriteAt(uint64_t offset, std::string_view text);
  void Commit();

 private:
  AtomicFile() = default;
  void Open();

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;  // -1: nothing is written
};

// Whether a file of that name may be the temporary one of an AtomicFile.
bool IsTemporaryName(std::string_view name);

// Removes the temporary files in `folder` that programs left there when they were killed; those of programs
// that still run stay.
void RemoveAbandonedIn(const std::string& folder);

// Removes the temporary files of this program, which is about to end without its destructors.
void RemoveUnfinished() noexcept;

// From now on an AtomicFile takes what is written and makes no file: of several processes that do the same
// one writes.
void WriteNoFiles();

// Writes `contents` to `path` as one AtomicFile.
void WriteFileAtomically(const std::string& path, std::string_view contents);

}  // namespace ort_ed
