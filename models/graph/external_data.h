#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// Tensors that an ONNX model keeps in other files, by a path relative to its folder.

// Throws kBadModel, naming tensor and path, for a path where a model in `folder` may not keep data.
void CheckExternalTensors(const onnx::ModelProto& model, const std::optional<std::filesystem::path>& folder,
                          const std::string& name);

// Reads them into the model. CheckExternalTensors comes first. Throws kIo or kBadModel.
void LoadExternalData(onnx::ModelProto& model, const std::filesystem::path& folder, const std::string& name);

}  // namespace ort_ed
