// The table of objectives, and nothing else.

#include "trainer/objective/objective.h"

namespace ort_ed {

extern const ObjectiveKind kEnergyDiscrepancyObjective;
extern const ObjectiveKind kSharedDiscrepancyObjective;
extern const ObjectiveKind kContrastiveDivergenceObjective;
extern const ObjectiveKind kLikelihoodObjective;
extern const ObjectiveKind kRatioMatchingObjective;
extern const ObjectiveKind kConcreteScoreObjective;
extern const ObjectiveKind kTrajectoryBalanceObjective;
extern const ObjectiveKind kWeightedLikelihoodObjective;

std::span<const ObjectiveKind* const> ObjectiveKinds() {
  // clang-format off
  static constexpr const ObjectiveKind* kKinds[] = {
      &kEnergyDiscrepancyObjective,
      &kSharedDiscrepancyObjective,
      &kContrastiveDivergenceObjective,
      &kLikelihoodObjective,
      &kRatioMatchingObjective,
      &kConcreteScoreObjective,
      &kTrajectoryBalanceObjective,
      &kWeightedLikelihoodObjective,
  };
  // clang-format on
  return kKinds;
}

}  // namespace ort_ed
