#pragma once

namespace ort_ed {

// From now on SIGINT, SIGTERM and SIGHUP (a closed terminal) raise a flag, so that a command can stop at a
// clean point. One that never looks at the flag, or waits for its input, is ended within a second with its
// temporary files removed; so is any at a second signal.
void CatchInterrupts();

// Called at the first signal, in a thread of its own, before anything else is done; `quiet`: the end is not
// told.
void OnFirstSignal(void (*call)(), bool quiet);

// True once the user asked to stop. Long loops poll it: whoever saw it is trusted to end by itself.
bool Interrupted();

// 128 + the signal, as shells count, once there was one; else `otherwise`.
int InterruptedExitCode(int otherwise);

}  // namespace ort_ed
