#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace ort_ed {

// Buffers of one size that concurrent calls borrow and give back, so that a call allocates only while more
// calls run at once than ever before.
class ScratchPool {
 public:
  explicit ScratchPool(size_t floats) : floats_(floats) {}

  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), buffer_(pool.Take()) {}
    ~Lease() { pool_.GiveBack(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    float* data() { return buffer_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<float[]> buffer_;
  };

 private:
  std::unique_ptr<float[]> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto buffer = std::move(free_.back());
        free_.pop_back();
        return buffer;
      }
    }
    return std::make_unique_for_overwrite<float[]>(floats_);
  }

  void GiveBack(std::unique_ptr<float[]> buffer) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {  // then the buffer is freed
    }
  }

  size_t floats_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<float[]>> free_;
};

}  // namespace ort_ed
