#pragma once

#include <cstdint>
#include <span>

namespace ort_ed {

// An endless sequence of rows to train on. Row n is a pure function of n, so that a resumed run needs to know
// nothing but its step. Not thread-safe; ascending n is the fast order.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t columns() const = 0;
  virtual void Draw(int64_t n, std::span<uint8_t> bits) = 0;  // columns() values 0/1
};

}  // namespace ort_ed
