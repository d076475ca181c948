#pragma once

#include <filesystem>
#include <string>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// Tensors that an ONNX model keeps in other files, by a path relative to its folder.

// Reads them into the model, which has passed the gate. Throws kIo or kBadModel.
void LoadExternalData(onnx::ModelProto& model, const std::filesystem::path& folder, const std::string& name);

}  // namespace ort_ed
