#pragma once

#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace ort_ed {

// Bytes as a file that readers can open by its path.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* bytes, size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    for (size_t done = 0; done < size;) {
      const ssize_t count = write(descriptor_, bytes + done, size - done);
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace ort_ed
