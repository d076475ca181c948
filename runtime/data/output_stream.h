#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/peer_wait.h"
#include "runtime/support/plain_text.h"

namespace ort_ed {

// Collects small writes; a file that appears on Commit(), or the standard output.
class OutputStream {
 public:
  explicit OutputStream(const std::string& path) {
    if (path != "-") file_ = std::make_unique<AtomicFile>(path);
  }

  std::string& buffer() { return buffer_; }
  void FlushIfLarge() {
    if (buffer_.size() >= kBufferBytes) Flush();
  }
  // Somebody may be reading the standard output as it comes.
  void FlushIfLive() {
    if (!file_) Flush();
  }
  void Flush() {
    if (file_) {
      file_->Write(buffer_);
    } else {
      FlushToStandardOutput();
    }
    buffer_.clear();
  }
  void Commit(std::string_view new_start = {}) {
    Flush();
    if (!new_start.empty()) file_->WriteAt(0, new_start);
    if (file_) file_->Commit();
  }

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 16;

  void FlushToStandardOutput() {
    const PeerWait wait;
    if (isatty(STDOUT_FILENO) != 0) MakePlain(buffer_);
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), stdout) != buffer_.size() || std::fflush(stdout) != 0)
      throw Error(ErrorCode::kIo, "cannot write to the standard output (disk full or pipe closed)");
  }

  std::unique_ptr<AtomicFile> file_;
  std::string buffer_;
};

// A cell of a text table, in quotes where it needs them.
inline std::string QuoteCell(const std::string& name, char separator) {
  if (name.find_first_of(std::string("\"\r\n") + separator) == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace ort_ed
