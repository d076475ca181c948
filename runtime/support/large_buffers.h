#pragma once

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ort_ed {

// Buffers of megabytes go back to the system as soon as they are freed. glibc would keep them once it has
// seen a few: by the order in which threads happened to run, the peak of a training was up to a quarter
// higher.
inline void ReturnLargeBuffers() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
#endif
}

}  // namespace ort_ed
