#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// Tensors that an ONNX model keeps in other files, by a path relative to its folder.

// Throws kBadModel, naming tensor and path, for a path that leads out of `folder`: an absolute one, one with
// "..", one that leaves through a symbolic link. Without `folder` any tensor in another file is refused.
void CheckExternalData(const onnx::ModelProto& model, const std::optional<std::filesystem::path>& folder,
                       const std::string& name);

// Reads them into the model. CheckExternalData comes first. Throws kIo or kBadModel.
void LoadExternalData(onnx::ModelProto& model, const std::filesystem::path& folder, const std::string& name);

}  // namespace ort_ed
