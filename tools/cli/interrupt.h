#pragma once

namespace ort_ed {

// From now on SIGINT, SIGTERM and SIGHUP (a closed terminal) only raise a flag, so that a command can stop at
// a clean point; a second signal ends the program at once.
void CatchInterrupts();

// True once the user asked to stop. Long loops poll it.
bool Interrupted();

}  // namespace ort_ed
