#pragma once

#include <string>
#include <vector>

#include "ort_ed/device.h"

namespace Ort {
struct SessionOptions;
}

namespace ort_ed {

// What the linked ONNX Runtime was built for, as users write it: "cpu", "cuda", "webgpu", "Tensorrt", ...
std::vector<std::string> ProviderNames();

// The file that it was loaded from; empty where the system does not tell.
std::string OnnxRuntimeLibrary();

// Lets `options` run on `device`. Throws kDevice with the reason and what to do; never falls back.
void AppendProvider(Ort::SessionOptions& options, const Device& device);

// Why `device` cannot be used and what to do; empty if it just ran something.
std::string ProviderProblem(const Device& device);

// Throws kDevice if there is a problem.
void RequireProvider(const Device& device);

}  // namespace ort_ed
