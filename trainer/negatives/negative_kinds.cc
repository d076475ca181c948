// The table of sources of negatives, and nothing else.

#include "trainer/negatives/negative_source.h"

namespace ort_ed {

extern const NegativeKind kBernoulliNegatives;
extern const NegativeKind kPoolNegatives;
extern const NegativeKind kGridNegatives;
extern const NegativeKind kNeighbourhoodNegatives;
extern const NegativeKind kEraseNegatives;
extern const NegativeKind kUniformNegatives;
extern const NegativeKind kOrderedNegatives;
extern const NegativeKind kCyclicNegatives;
extern const NegativeKind kCdNegatives;
extern const NegativeKind kPcdNegatives;
extern const NegativeKind kRefillNegatives;
extern const NegativeKind kDrawsNegatives;
extern const NegativeKind kLikelihoodNegatives;
extern const NegativeKind kRatioMatchingNegatives;
extern const NegativeKind kConcreteScoreNegatives;
extern const NegativeKind kEbGfnNegatives;
extern const NegativeKind kAloeNegatives;

std::span<const NegativeKind* const> NegativeKinds() {
  // clang-format off
  static constexpr const NegativeKind* kKinds[] = {
      &kBernoulliNegatives,
      &kPoolNegatives,
      &kGridNegatives,
      &kNeighbourhoodNegatives,
      &kEraseNegatives,
      &kUniformNegatives,
      &kOrderedNegatives,
      &kCyclicNegatives,
      &kCdNegatives,
      &kPcdNegatives,
      &kRefillNegatives,
      &kDrawsNegatives,
      &kLikelihoodNegatives,
      &kRatioMatchingNegatives,
      &kConcreteScoreNegatives,
      &kEbGfnNegatives,
      &kAloeNegatives,
  };
  // clang-format on
  return kKinds;
}

}  // namespace ort_ed
