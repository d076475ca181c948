#pragma once

#include <cstddef>
#include <functional>

namespace ort_ed {

// The threads that a kernel may use, ONNX Runtime's as a rule. Calls task(0) ... task(count - 1), possibly at
// the same time, and returns when all are done. A kernel splits its work by the shapes alone, never by the
// number of threads, so that its result is the same for any.
using TaskRunner = std::function<void(size_t count, const std::function<void(size_t)>& task)>;

}  // namespace ort_ed
