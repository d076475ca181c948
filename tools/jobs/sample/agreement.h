#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "ort_ed/diagnostics.h"
#include "ort_ed/variables.h"

namespace ort_ed {

// The split R-hat that the largest one of so many variables passes in one of a hundred runs whose chains all
// agree, but forget only within 25 records, or half a chain, where that is less; at least 1.1, which decides
// where records are many.
double RHatLimit(int64_t records, int64_t chains, int64_t variables);

// Whether chains have come to one distribution, as far as their records can tell.
struct ChainAgreement {
  double energy_r_hat = std::nan("");
  double energy_limit = std::nan("");
  std::string worst_variable = {};  // that of the largest R-hat; empty: not known
  double variable_r_hat = std::nan("");
  double variable_limit = std::nan("");  // not known of few records

  // What is not known does not disagree.
  bool EnergiesDisagree() const { return energy_r_hat > energy_limit; }
  bool VariablesDisagree() const { return variable_r_hat > variable_limit; }
  std::string Describe() const;  // "R-hat of the energy 1.003 (limit 1.1), of ... "; empty: nothing is known
};
ChainAgreement JudgeChains(const Diagnostics& diagnostics, const Variables& variables);

}  // namespace ort_ed
