#pragma once

#include "trainer/objective/objective.h"

namespace ort_ed {

// Losses that compare a row with states one change away, whose energies are those of the negatives:
//   mean_i sum_j omega_ij f(D_ij),  D_ij = U(x_i) - U(x_ij), where omega = 1 without weights.
class NeighbourLoss : public Objective {
 public:
  ObjectiveNodes Emit(const GroupEnergies& groups) const final;

 protected:
  struct Term {
    Value value;       // f(D)
    Value derivative;  // f'(D)
  };
  // Of differences [groups, M].
  virtual Term EmitTerm(const Value& difference) const = 0;
};

}  // namespace ort_ed
