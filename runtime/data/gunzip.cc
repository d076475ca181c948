#include <algorithm>
#include <array>

#include <zlib.h>

#include "ort_ed/error.h"
#include "runtime/data/input_stream.h"

namespace ort_ed {
namespace {

constexpr size_t kInputBytes = size_t{1} << 18;
constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header

// Any number of gzip members one after the other, as `cat a.gz b.gz` and parallel compressors write them.
class GunzipSource : public ByteSource {
 public:
  GunzipSource(std::unique_ptr<ByteSource> source, std::string_view prefix, const std::string& name)
      : source_(std::move(source)), name_(name), input_(std::max(kInputBytes, prefix.size())) {
    std::copy(prefix.begin(), prefix.end(), input_.begin());
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(prefix.size());
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~GunzipSource() override { inflateEnd(&stream_); }
  GunzipSource(const GunzipSource&) = delete;
  GunzipSource& operator=(const GunzipSource&) = delete;

  size_t Read(char* to, size_t size) override {
    size = std::min(size, size_t{1} << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0) FillInput();
      Inflate();
    }
    return size - stream_.avail_out;
  }

 private:
  void FillInput() {
    stream_.next_in = input_.data();
    stream_.avail_in =
        static_cast<uInt>(source_->Read(reinterpret_cast<char*>(input_.data()), input_.size()));
    if (stream_.avail_in == 0) Fail("is cut off: the gzip data ends early; copy or download it again");
  }

  void Inflate() {
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) return EndMember();
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_BUF_ERROR) {
      const std::string reason = stream_.msg != nullptr ? stream_.msg : "unknown compression";
      Fail("is damaged: its gzip data does not decompress (" + reason + "); copy or download it again");
    }
  }

  // What follows a member is another one, or nothing.
  void EndMember() {
    while (stream_.avail_in < 2) {
      if (stream_.avail_in == 1) input_[0] = *stream_.next_in;
      const size_t count = source_->Read(reinterpret_cast<char*>(input_.data()) + stream_.avail_in,
                                         input_.size() - stream_.avail_in);
      stream_.next_in = input_.data();
      stream_.avail_in += static_cast<uInt>(count);
      if (count == 0) break;
    }
    if (stream_.avail_in == 0) {
      ended_ = true;
    } else if (stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b) {
      inflateReset(&stream_);
    } else {
      Fail("has bytes behind the end of its gzip data; remove them, or copy the file again");
    }
  }

  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(ErrorCode::kBadData, name_ + " " + what);
  }

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<Bytef> input_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> MakeGunzipSource(std::unique_ptr<ByteSource> source, std::string_view prefix,
                                             const std::string& name) {
  return std::make_unique<GunzipSource>(std::move(source), prefix, name);
}

}  // namespace ort_ed
