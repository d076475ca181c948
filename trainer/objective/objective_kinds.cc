// The table of objectives, and nothing else.

#include "trainer/objective/objective.h"

namespace ort_ed {

extern const ObjectiveKind kEnergyDiscrepancyObjective;
extern const ObjectiveKind kContrastiveDivergenceObjective;
extern const ObjectiveKind kLikelihoodObjective;
extern const ObjectiveKind kRatioMatchingObjective;
extern const ObjectiveKind kConcreteScoreObjective;
extern const ObjectiveKind kTrajectoryBalanceObjective;

std::span<const ObjectiveKind* const> ObjectiveKinds() {
  static constexpr const ObjectiveKind* kKinds[] = {
      &kEnergyDiscrepancyObjective,
      &kContrastiveDivergenceObjective,
      &kLikelihoodObjective,
      &kRatioMatchingObjective,
      &kConcreteScoreObjective,
      &kTrajectoryBalanceObjective,
  };
  return kKinds;
}

}  // namespace ort_ed
