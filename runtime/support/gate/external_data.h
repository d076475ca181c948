#pragma once

#include <optional>
#include <string>

namespace ort_ed {

// An ONNX model may keep tensors in other files, by a path relative to its folder. A model somebody sent must
// not make a program read the rest of the disk: old versions of ONNX Runtime do not check this.

// Why a model in `folder` may not keep data in `location`, and what to do: a path that leads out of the
// folder (absolute, through "..", or through a symbolic link), to what is no file, or none. Empty where it
// may. Without folder (a model in memory) it never may.
std::string ExternalLocationProblem(const std::optional<std::string>& folder, const std::string& location);

// The folder of a model's file.
std::string ModelFolder(const std::string& path);

}  // namespace ort_ed
