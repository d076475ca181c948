#pragma once

#include <cstddef>
#include <utility>

namespace ort_ed {

// Memory aligned to cache lines, not initialised. Freed memory is kept by the thread that frees it, up to a
// few pieces, and serves its next request: asking the system for megabytes at every call of a kernel costs
// more than some kernels.
class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes);
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }

 private:
  void swap(AlignedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// The working memory of one task: it asks for all it needs at once and takes the parts one after the other.
class Scratch {
 public:
  template <typename T>
  static size_t Bytes(size_t count) {
    constexpr size_t kAlignment = AlignedBuffer::kAlignment;
    return (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }

  explicit Scratch(size_t bytes) : buffer_(bytes), next_(buffer_.data()) {}

  template <typename T>
  T* Take(size_t count) {
    T* taken = reinterpret_cast<T*>(next_);
    next_ += Bytes<T>(count);
    return taken;
  }

 private:
  AlignedBuffer buffer_;
  std::byte* next_;
};

}  // namespace ort_ed
