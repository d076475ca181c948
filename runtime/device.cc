#include "ort_ed/device.h"

#include <onnxruntime_cxx_api.h>

namespace ort_ed {

std::string OnnxRuntimeVersion() { return Ort::GetVersionString(); }

}  // namespace ort_ed
