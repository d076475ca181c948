#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace ort_ed {

// Buffers that concurrent calls borrow and give back, so that a call allocates only while more calls run at
// once, or larger ones, than ever before.
class ScratchPool {
  struct Buffer {
    std::unique_ptr<float[]> floats;
    size_t size = 0;
  };

 public:
  class Lease {
   public:
    Lease(ScratchPool& pool, size_t floats) : pool_(pool), buffer_(pool.Take(floats)) {}
    ~Lease() { pool_.GiveBack(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    float* data() { return buffer_.floats.get(); }

   private:
    ScratchPool& pool_;
    Buffer buffer_;
  };

 private:
  Buffer Take(size_t floats) {
    Buffer buffer = TakeFree();
    if (buffer.size < floats) {
      buffer = {};  // freed before the larger one is made
      buffer = {std::make_unique_for_overwrite<float[]>(floats), floats};
    }
    return buffer;
  }

  Buffer TakeFree() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    Buffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }

  void GiveBack(Buffer buffer) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {  // then the buffer is freed
    }
  }

  std::mutex mutex_;
  std::vector<Buffer> free_;
};

}  // namespace ort_ed
