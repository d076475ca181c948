#pragma once

#include <atomic>

namespace ort_ed {

// Lives while a thread reads what may never come: a pipe, a terminal. Whoever ends the program on a signal
// need not wait for such a thread.
class InputWait {
 public:
  InputWait() { ++count_; }
  ~InputWait() { --count_; }
  InputWait(const InputWait&) = delete;
  InputWait& operator=(const InputWait&) = delete;

  static bool Any() { return count_ > 0; }

 private:
  inline static std::atomic<int> count_ = 0;
};

}  // namespace ort_ed
