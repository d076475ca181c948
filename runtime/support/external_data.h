#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ort_ed {

// An ONNX model may keep tensors in other files. Throws kBadModel if one of them lies outside the folder of
// the model's file `path` (absolute, through "..", or through a symbolic link), so that a model somebody sent
// cannot make a program read the rest of the disk. An empty `path` (a model in memory) has no folder: any
// external tensor is refused. Old versions of ONNX Runtime do not check this. False where the bytes are
// damaged, so that it cannot be told.
bool CheckExternalData(std::span<const std::byte> model, const std::string& path, const std::string& name);

}  // namespace ort_ed
