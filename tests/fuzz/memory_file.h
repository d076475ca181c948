#pragma once

#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace ort_ed {

// Bytes as a file that readers can open by its path. There is one file for all, which is filled anew: to make
// one takes longer than to read most.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* bytes, size_t size) {
    if (ftruncate(Descriptor(), 0) != 0) return;
    for (size_t done = 0; done < size;) {
      const ssize_t count = pwrite(Descriptor(), bytes + done, size - done, static_cast<off_t>(done));
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(Descriptor()); }

 private:
  static int Descriptor() {
    static const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    return descriptor;
  }
};

}  // namespace ort_ed
