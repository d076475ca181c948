#pragma once

#include <cstdint>
#include <optional>

#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// Of an energy discrepancy: where all energies are equal, and where every negative gives itself away.
struct LossBounds {
  double told_nothing, told_all;

  // 1 where nothing is told, 0 where all is.
  double Place(double loss) const { return (loss - told_all) / (told_nothing - told_all); }
  double At(double place) const { return told_all + place * (told_nothing - told_all); }
};

// For so many rows together, which may share their negatives. Nothing of losses that have no bounds.
std::optional<LossBounds> BoundsOf(const RunSetup& setup, int64_t rows);

}  // namespace ort_ed
