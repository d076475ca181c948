#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {

EnergyPath PathFrom(PathBase base, ModelEnergy& energy) {
  if (base == PathBase::kUniform) return EnergyPath(energy.get());
  return EnergyPath(energy.get(), MakeBaseDistribution(energy.model()));
}

KindTable EstimatorTable() { return ListKinds(Estimators()); }

ChosenEstimator FindEstimator(const Choice& estimator) {
  const ChosenKind chosen = Resolve(estimator, EstimatorTable(), "estimator").front();
  return {*Estimators()[chosen.row], chosen.options};
}

}  // namespace ort_ed
