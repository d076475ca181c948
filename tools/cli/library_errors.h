#pragma once

#include <streambuf>

namespace ort_ed {

// Looks at what libraries write to std::cerr while this lives. ONNX Runtime goes on without those parts of
// itself that it had no memory for, and tells it there and nowhere else: what it then fails with says nothing
// of memory.
class LibraryErrors : std::streambuf {
 public:
  LibraryErrors();
  ~LibraryErrors() override;
  LibraryErrors(const LibraryErrors&) = delete;
  LibraryErrors& operator=(const LibraryErrors&) = delete;

  bool tell_of_low_memory() const { return tell_of_low_memory_; }

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

  std::streambuf* const target_;
  bool tell_of_low_memory_ = false;
};

}  // namespace ort_ed
