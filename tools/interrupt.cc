#include "tools/interrupt.h"

#include <atomic>
#include <csignal>

namespace ort_ed {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void CatchInterrupts() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return interrupted; }

}  // namespace ort_ed
