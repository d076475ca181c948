#include "tools/cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>

#include <unistd.h>

#include "runtime/support/files/atomic_file.h"
#include "runtime/support/peer_wait.h"

namespace ort_ed {
namespace {

std::atomic<int> first_signal = 0;
std::atomic<bool> polled = false, seen = false, quiet_end = false;
std::atomic<void (*)()> on_first_signal = nullptr;

[[noreturn]] void EndNow(int signal) {
  RemoveUnfinished();
  constexpr char kText[] = "\nerror: interrupted; no file was written\n";
  if (!quiet_end && write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) {
    // Nobody listens.
  }
  _exit(128 + signal);
}

// Whether the command will not see the flag soon: it never looks, or it waits for input.
bool IsDeaf() { return !polled || PeerWait::Any(); }

// In a thread of its own, so that it works whatever the others wait for. A command that looks at the flag
// between two steps may take a while for a step, and then has to save.
void WaitForSignals(sigset_t signals) {
  constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 100'000'000};
  constexpr int kMostDeafMoments = 6;
  int signal = 0;
  sigwait(&signals, &signal);
  first_signal = signal;
  if (void (*const call)() = on_first_signal) call();
  PipeEnd::NoteSignal();
  for (int deaf = 0; deaf < kMostDeafMoments; deaf = !seen && IsDeaf() ? deaf + 1 : 0)
    if (sigtimedwait(&signals, nullptr, &kMoment) > 0) break;
  EndNow(signal);
}

bool IsIgnored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// Blocked before any other thread is there: all inherit it.
void CatchInterrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (!IsIgnored(SIGHUP)) sigaddset(&signals, SIGHUP);  // as nohup wants it
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(WaitForSignals, signals).detach();
  PipeEnd::Watch();
  // Writing fails then, with an error that can be told.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void OnFirstSignal(void (*call)(), bool quiet) {
  quiet_end = quiet;
  on_first_signal = call;
}

bool Interrupted() {
  polled = true;
  if (first_signal == 0) return false;
  seen = true;
  return true;
}

int InterruptedExitCode(int otherwise) { return first_signal == 0 ? otherwise : 128 + first_signal; }

}  // namespace ort_ed
