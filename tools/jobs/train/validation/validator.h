#pragma once

#include <optional>
#include <vector>

#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/validation/held_out_likelihood.h"

namespace ort_ed {

// What the network is worth on held-out rows, with the averaged parameters, since those are deployed.
struct Validation {
  double loss = 0;
  std::optional<LikelihoodEstimate> likelihood = {};  // where it is finite
};

class Validator {
 public:
  // Of a setup that outlives it and has held-out rows.
  explicit Validator(RunSetup& setup) : setup_(setup) {}

  Validation Validate();
  // Steps after which a network on a learned base is validated whatever validate_every says: none, since the
  // best model may be the base alone, and a few as soon as each row has been seen, since few rows are learned
  // by heart within a hundred steps.
  std::vector<int64_t> ExtraSteps() const;
  // The lowest loss that says anything. At its lower bound all negatives of a base give themselves away, and
  // which loss is lower is chance.
  double LowestLoss() const;
  // Of the network at the last validation, see HeldOutLikelihood; empty: there are none.
  std::vector<float> Samples(int64_t count) const;
  // Of what is under the network, see HeldOutLikelihood.
  double base_nll();

 private:
  double Loss();
  int64_t RowsOfAPart() const;  // that are evaluated together
  HeldOutLikelihood& likelihood();

  RunSetup& setup_;
  std::optional<HeldOutLikelihood> likelihood_;  // made when it is first needed
};

}  // namespace ort_ed
