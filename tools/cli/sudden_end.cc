#include "tools/cli/sudden_end.h"

#include <exception>
#include <mutex>
#include <string_view>

#include <unistd.h>

#include "runtime/support/files/atomic_file.h"
#include "runtime/support/low_memory.h"

namespace ort_ed {
namespace {

constexpr int kFailed = 1;

std::terminate_handler usual_end = nullptr;

// Some libraries are compiled so that an exception which may not leave cannot be looked at any more.
bool EndsForLowMemory() noexcept {
  const std::exception_ptr failure = std::current_exception();
  if (!failure) return std::uncaught_exceptions() > 0;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return IsLowMemory(error);
  } catch (...) {
    return false;
  }
}

// glibc loads what carries an exception through functions of its own when the first one comes, and ends the
// program if it cannot.
void LoadUnwinder() noexcept {
  std::once_flag once;
  try {
    std::call_once(once, [] { throw 0; });
  } catch (int) {
  }
}

[[noreturn]] void End() {
  if (EndsForLowMemory()) {
    RemoveUnfinished();
    TellLowMemory();
    _exit(kFailed);
  }
  usual_end();
  _exit(kFailed);  // it does not return
}

}  // namespace

void TellLowMemory() noexcept {
  constexpr std::string_view kText = "error: out of memory; ask for less at once\n";
  if (write(STDERR_FILENO, kText.data(), kText.size()) < 0) {
    // Nobody listens.
  }
}

void CatchSuddenEnds() noexcept {
  usual_end = std::set_terminate(End);
  LoadUnwinder();
}

}  // namespace ort_ed
