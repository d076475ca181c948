#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

namespace ort_ed {

// A file system of its own over an empty folder, small enough to be filled. Only root may mount one; where
// that is not allowed, mounted() is false.
class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path folder)
      : folder_(std::move(folder)),
        mounted_(mount("tmpfs", folder_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=8m") == 0) {}
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

  // Leaves `room` bytes free.
  void Fill(off_t room) {
    const int file = open(Filler().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<char> block(1 << 12, 'x');
    off_t size = 0;
    while (write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()))
      size += static_cast<off_t>(block.size());
    filled_ = ftruncate(file, std::max<off_t>(0, size - room)) == 0;
    close(file);
  }
  bool filled() const { return filled_; }
  void Free() {
    std::filesystem::remove(Filler());
    filled_ = false;
  }

 private:
  std::filesystem::path Filler() const { return folder_ / "filler"; }

  std::filesystem::path folder_;
  bool mounted_;
  bool filled_ = false;
};

}  // namespace ort_ed
