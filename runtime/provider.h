#pragma once

#include <string>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "ort_ed/device.h"

namespace ort_ed {

// What the linked ONNX Runtime was built for, as users write it: "cpu", "cuda", "Tensorrt", ...
std::vector<std::string> ProviderNames();

// Lets `options` run on `device`. Throws kDevice with the reason and what to do; never falls back.
void AppendProvider(Ort::SessionOptions& options, const Device& device);

// AppendProvider, and the device really runs something. Throws kDevice.
void ProbeProvider(const Device& device);

}  // namespace ort_ed
