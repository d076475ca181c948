#include "tools/sampling_model.h"

#include <onnx/onnx_pb.h>

#include "models/model_file.h"
#include "ort_ed/sampler.h"
#include "trainer/input_gradient.h"

namespace ort_ed {

EnergyModel LoadForSampling(const std::string& path, const LoadOptions& options, const std::string& sampler) {
  EnergyModel model = EnergyModel::FromFile(path, options);
  if (!FindSampler(sampler).needs_gradient || model.HasGradient()) return model;
  onnx::ModelProto with_gradient = LoadModel(path);
  AttachInputGradient(with_gradient);
  const std::string bytes = SerializeModel(with_gradient);
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)), options, path);
}

}  // namespace ort_ed
