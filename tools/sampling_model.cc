#include "tools/sampling_model.h"

#include "ort_ed/sampler.h"

namespace ort_ed {

EnergyModel LoadForSampling(const std::string& path, const LoadOptions& options, const std::string& sampler) {
  FindSampler(sampler);
  return EnergyModel::FromFile(path, options);
}

}  // namespace ort_ed
