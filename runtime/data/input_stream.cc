#include "runtime/data/input_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/peer_wait.h"

namespace ort_ed {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18, kLeastBytes = size_t{1} << 12;  // of a small file
constexpr std::string_view kGzipMagic = "\x1f\x8b";

[[noreturn]] void ThrowIo(const std::string& name) {
  const int error = errno;
  std::string advice;
  if (error == ENOENT) advice = "; check the path";
  if (error == EACCES) advice = "; ask for permission to read it";
  throw Error(ErrorCode::kIo, "cannot read " + name + ": " + std::strerror(error) + advice);
}

class DescriptorSource : public ByteSource {
 public:
  DescriptorSource(const std::string& path, const std::string& name) : name_(name) {
    const PeerWait wait;  // for the other end of a named pipe
    descriptor_ = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) ThrowIo(name_);
    struct stat status;
    if (fstat(descriptor_, &status) != 0) ThrowIo(name_);
    is_pipe_ = !S_ISREG(status.st_mode);
    if (!IsEndless(status)) return;
    close(descriptor_);
    throw Error(ErrorCode::kIo, "cannot read " + name_ + ": it is a device; name a file");
  }
  ~DescriptorSource() override { close(descriptor_); }
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;

  // A device that is no terminal may have no end; that of /dev/null is known.
  bool IsEndless(const struct stat& status) const {
    if (S_ISBLK(status.st_mode)) return true;
    return S_ISCHR(status.st_mode) && isatty(descriptor_) == 0 && status.st_rdev != makedev(1, 3);
  }

  // Of a plain file, from where the descriptor stands.
  std::optional<uint64_t> Size() const {
    struct stat status;
    if (fstat(descriptor_, &status) != 0) ThrowIo(name_);
    if (S_ISDIR(status.st_mode))
      throw Error(ErrorCode::kIo, "cannot read " + name_ + ": it is a folder; name a file in it");
    const off_t position = lseek(descriptor_, 0, SEEK_CUR);
    if (!S_ISREG(status.st_mode) || position < 0) return std::nullopt;
    return static_cast<uint64_t>(std::max<off_t>(0, status.st_size - position));
  }

  size_t Read(char* to, size_t size) override {
    constexpr size_t kMaxRead = size_t{1} << 30;
    const PeerWait wait;
    for (;;) {
      const ssize_t count = read(descriptor_, to, std::min(size, kMaxRead));
      if (count == 0 && size > 0 && is_pipe_) PipeEnd::Note();
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) ThrowIo(name_);
    }
  }

  bool Ready() const override {
    pollfd descriptor = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    return poll(&descriptor, 1, 0) != 0;
  }

 private:
  std::string name_;
  int descriptor_;
  bool is_pipe_ = false;
};

}  // namespace

InputStream::InputStream(const std::string& path)
    : name_(path == "-" ? "the standard input" : "'" + path + "'") {
  auto file = std::make_unique<DescriptorSource>(path, name_);
  size_ = file->Size();
  buffer_.resize(std::clamp<size_t>(size_.value_or(kBufferBytes), kLeastBytes, kBufferBytes));
  source_ = std::move(file);
  if (Peek(kGzipMagic.size()).starts_with(kGzipMagic)) {
    const std::string_view seen(buffer_.data() + begin_, end_ - begin_);
    source_ = MakeGunzipSource(std::move(source_), seen, name_);
    size_.reset();
    buffer_.resize(kBufferBytes);
    begin_ = end_ = 0;
  }
}

std::optional<uint64_t> InputStream::remaining() const {
  if (!size_) return std::nullopt;
  return *size_ - std::min(*size_, consumed_);
}

std::string_view InputStream::Peek(size_t size) {
  if (end_ - begin_ < size && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (size > buffer_.size()) buffer_.resize(std::max(size, 2 * buffer_.size()));
  while (end_ - begin_ < size) {
    const size_t count = source_->Read(buffer_.data() + end_, buffer_.size() - end_);
    if (count == 0) break;
    end_ += count;
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

void InputStream::Skip(size_t size) {
  begin_ += size;
  consumed_ += size;
}

size_t InputStream::Read(void* to, size_t size) {
  char* position = static_cast<char*>(to);
  const size_t buffered = std::min(size, end_ - begin_);
  std::memcpy(position, buffer_.data() + begin_, buffered);
  Skip(buffered);
  size_t done = buffered;
  while (done < size) {
    const size_t count = source_->Read(position + done, size - done);
    if (count == 0) break;
    done += count;
    consumed_ += count;
  }
  return done;
}

void InputStream::Fail(const std::string& what) const {
  throw Error(ErrorCode::kBadData, name_ + " " + what);
}

}  // namespace ort_ed
