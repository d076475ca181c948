#pragma once

namespace ort_ed {

// Says on the standard error output that memory is low, without asking for any.
void TellLowMemory() noexcept;

// From now on, low memory where no exception may leave (threads and destructors of libraries) ends the
// program as elsewhere: one message, exit code 1, no unfinished file.
void CatchSuddenEnds() noexcept;

}  // namespace ort_ed
