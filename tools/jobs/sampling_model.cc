#include "tools/jobs/sampling_model.h"

#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "models/inspect/energy_degree.h"
#include "ort_ed/metadata.h"
#include "ort_ed/sampler.h"
#include "trainer/autodiff/input_gradient.h"

namespace ort_ed {

EnergyModel LoadForSampling(const std::string& path, const LoadOptions& options, const std::string& sampler) {
  EnergyModel model = EnergyModel::FromFile(path, options);
  const bool derive = FindSampler(sampler).needs_gradient && !model.HasGradient();
  onnx::ModelProto proto = LoadModel(path);
  const std::string claimed = GetMetadata(proto, metadata_key::kDegree);
  NoteDegree(proto);
  if (!derive && GetMetadata(proto, metadata_key::kDegree) == claimed) return model;
  if (derive) AttachInputGradient(proto);
  const std::string bytes = SerializeModel(proto);
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)), options, path);
}

}  // namespace ort_ed
