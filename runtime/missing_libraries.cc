#include "runtime/missing_libraries.h"

#include <cstring>
#include <optional>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ort_ed {
namespace {

// A file's bytes, of which few are looked at.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (mapped != MAP_FAILED) bytes_ = static_cast<const char*>(mapped);
    }
    close(descriptor);
  }
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  template <typename T>
  std::optional<T> At(size_t offset) const {
    if (bytes_ == nullptr || offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof(T));
    return value;
  }

  std::string Text(size_t offset) const {
    if (bytes_ == nullptr || offset >= size_) return "";
    return {bytes_ + offset, strnlen(bytes_ + offset, size_ - offset)};
  }

 private:
  const char* bytes_ = nullptr;
  size_t size_ = 0;
};

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);

std::vector<Segment> Segments(const MappedFile& file) {
  std::vector<Segment> segments;
  const auto header = file.At<Header>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return segments;
  for (size_t i = 0; i < header->e_phnum; ++i)
    if (const auto segment = file.At<Segment>(header->e_phoff + i * sizeof(Segment)))
      segments.push_back(*segment);
  return segments;
}

// Where in the file lies what is loaded at `address`.
std::optional<size_t> OffsetOf(size_t address, const std::vector<Segment>& segments) {
  for (const Segment& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  return std::nullopt;
}

std::vector<std::string> NeededLibraries(const std::string& path) {
  const MappedFile file(path);
  const std::vector<Segment> segments = Segments(file);
  std::vector<size_t> names;
  std::optional<size_t> texts;
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (size_t at = segment.p_offset; const auto entry = file.At<Entry>(at); at += sizeof(Entry)) {
      if (entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) texts = OffsetOf(entry->d_un.d_ptr, segments);
    }
  }
  std::vector<std::string> needed;
  if (texts)
    for (const size_t name : names) needed.push_back(file.Text(*texts + name));
  return needed;
}

bool CanOpen(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

bool CanLoad(const std::string& name, const std::string& path) {
  return CanOpen(path.substr(0, path.rfind('/') + 1) + name) || CanOpen(name);
}

std::vector<std::string> MissingLibraries(const std::string& path) {
  std::vector<std::string> missing;
  for (const std::string& name : NeededLibraries(path))
    if (!CanLoad(name, path)) missing.push_back(name);
  return missing;
}

}  // namespace ort_ed
