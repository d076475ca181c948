#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace ort_ed {

// Memory aligned to cache lines, not initialised.
class AlignedBuffer {
 public:
  static constexpr std::align_val_t kAlignment{64};

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes)
      : data_(static_cast<std::byte*>(::operator new(bytes, kAlignment))), bytes_(bytes) {}

  std::byte* data() const { return data_.get(); }
  float* floats() const { return reinterpret_cast<float*>(data_.get()); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t bytes_ = 0;
};

// The working memory of one task on one thread, kept for the thread's next task: a task asks for all it needs
// at once and takes its parts one after the other.
class Scratch {
 public:
  static constexpr size_t kAlignment = static_cast<size_t>(AlignedBuffer::kAlignment);

  template <typename T>
  static size_t Bytes(size_t count) {
    return (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }

  explicit Scratch(size_t bytes) : next_(Reserve(bytes)) {}

  template <typename T>
  T* Take(size_t count) {
    T* taken = reinterpret_cast<T*>(next_);
    next_ += Bytes<T>(count);
    return taken;
  }

 private:
  static std::byte* Reserve(size_t bytes) {
    thread_local AlignedBuffer buffer;
    if (buffer.bytes() < bytes) {
      buffer = AlignedBuffer();
      buffer = AlignedBuffer(bytes);
    }
    return buffer.data();
  }

  std::byte* next_;
};

}  // namespace ort_ed
