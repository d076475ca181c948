#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// Where the bytes of an InputStream come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte, or 0 at the end.
  virtual size_t Read(char* to, size_t size) = 0;
  // Whether Read() would return at once, as far as is known.
  virtual bool Ready() const { return true; }
};

// The bytes of a file or of the standard input ("-"), gunzipped on the fly where they are gzip, with a look
// ahead. Everything throws kIo or kBadData naming the file.
class InputStream {
 public:
  explicit InputStream(const std::string& path);

  // For messages: "'x.npy'" or "the standard input".
  const std::string& name() const { return name_; }
  // Bytes from here to the end, where that is known beforehand: in a plain file.
  std::optional<uint64_t> remaining() const;

  // What comes next: at least `size` bytes, fewer only at the end. Valid until the next call of a member.
  std::string_view Peek(size_t size);
  // What comes next as far as it is there; with `ready`, more may be had without waiting.
  std::string_view Buffered() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool ready() const { return source_->Ready(); }
  void Skip(size_t size);  // at most what Peek() returned
  // Fewer than `size` bytes only at the end.
  size_t Read(void* to, size_t size);

  // Throws kBadData: "<name> <what>".
  [[noreturn]] void Fail(const std::string& what) const;

 private:
  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::optional<uint64_t> size_;
  uint64_t consumed_ = 0;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // what was read from the source and not yet consumed: buffer_[begin_, end_)
  size_t end_ = 0;
};

// `prefix`: what was read from `source` already.
std::unique_ptr<ByteSource> MakeGunzipSource(std::unique_ptr<ByteSource> source, std::string_view prefix,
                                             const std::string& name);

}  // namespace ort_ed
