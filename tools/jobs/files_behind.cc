#include "tools/jobs/files_behind.h"

#include <filesystem>

#include <onnx/onnx_pb.h>

#include "models/graph/model_file.h"
#include "models/graph/tensors.h"
#include "ort_ed/error.h"
#include "tools/jobs/train/run_folder.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> FilesOfTensors(const std::string& model) {
  std::vector<std::string> files;
  const fs::path folder = fs::path(model).parent_path();
  VisitTensors(LoadModel(model, ExternalData::kKeep), [&](const onnx::TensorProto& tensor) {
    for (const auto& entry : tensor.external_data())
      if (entry.key() == "location") files.push_back(folder / entry.value());
  });
  return files;
}

}  // namespace

std::vector<std::string> FilesBehind(const std::string& input) {
  try {
    std::error_code none;
    if (fs::is_directory(input, none)) return RecordsOfRun(input);
    if (fs::is_regular_file(input, none)) return FilesOfTensors(input);
  } catch (const Error&) {
    // Whoever reads it says what is wrong with it.
  }
  return {};
}

}  // namespace ort_ed
