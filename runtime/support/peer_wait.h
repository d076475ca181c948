#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "ort_ed/error.h"

namespace ort_ed {

// Lives while a thread waits for somebody else: reads what may never come, or writes what nobody may ever
// take (a pipe, a terminal). Whoever ends the program on a signal need not wait for such a thread.
class PeerWait {
 public:
  PeerWait() { ++count_; }
  ~PeerWait() { --count_; }
  PeerWait(const PeerWait&) = delete;
  PeerWait& operator=(const PeerWait&) = delete;

  static bool Any() { return count_ > 0; }

 private:
  inline static std::atomic<int> count_ = 0;
};

// Ctrl-C ends every program of a pipe: what comes to its end about then was cut short, and is no input.
class PipeEnd {
 public:
  // From now on NoteSignal() tells of signals.
  static void Watch() { watched_ = true; }
  // A signal came that ends the program.
  static void NoteSignal() {
    signalled_ = true;
    if (Now() - last_end_ < kMoment) cut_short_ = true;
  }
  // A pipe came to its end. Throws kInterrupted after a signal.
  static void Note() {
    if (watched_ && Now() - last_end_ > kMoment) std::this_thread::sleep_for(kLatest);
    last_end_ = Now();
    if (signalled_) cut_short_ = true;
    Check();
  }
  // Throws kInterrupted where an input was cut short by a signal.
  static void Check() {
    if (cut_short_)
      throw Error(ErrorCode::kInterrupted,
                  "interrupted as the input ended, which may be cut short; nothing was written from it");
  }

 private:
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  static constexpr int64_t kMoment = 1000;  // milliseconds
  // By then a signal has come that the program at the other end got first.
  static constexpr std::chrono::milliseconds kLatest{20};
  inline static std::atomic<bool> watched_ = false;
  inline static std::atomic<bool> signalled_ = false, cut_short_ = false;
  inline static std::atomic<int64_t> last_end_ = -2 * kMoment;
};

}  // namespace ort_ed
