#pragma once

#include <cstdint>
#include <vector>

#include "ort_ed/export.h"

namespace ort_ed {

// A restricted Boltzmann machine whose hidden units are summed out:
//   U(x) = constant + sum_i fields_i x_i - sum_j log(1 + exp(biases_j + sum_i weights_ij x_i)).
// Samplers that know it keep what the units see, instead of evaluating the energy.
struct BipartiteForm {
  std::vector<float> fields;   // of the D variables
  std::vector<float> weights;  // D x H
  std::vector<float> biases;   // of the H units

  int64_t dimension() const { return static_cast<int64_t>(fields.size()); }
  int64_t units() const { return static_cast<int64_t>(biases.size()); }

  // Whether shapes fit, all numbers are finite, and no weight is beyond what samplers can hold.
  ORT_ED_API bool IsUsable() const;
};

}  // namespace ort_ed
