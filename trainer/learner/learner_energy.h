#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "ort_ed/energy_function.h"

namespace ort_ed {

// Energies of states, and dU/dx where `slopes` is not empty.
using EvaluateStates =
    std::function<void(std::span<const float> states, std::span<float> energies, std::span<float> slopes)>;

struct LearnerEnergyParts {
  int64_t dimension;
  int64_t rows_at_once;  // as EnergyFunction has it; threads may then evaluate side by side
  bool gradient;
  EvaluateStates evaluate;
  std::shared_ptr<const BipartiteForm> bipartite;  // not null where it is that of an RBM
};

// The energy function that `evaluate` computes. What is not a number stays so: a training that diverges is
// told by its step, which knows what to advise.
std::shared_ptr<const EnergyFunction> MakeLearnerEnergy(LearnerEnergyParts parts);

// Reads off the couplings of a polynomial of degree 2 from its gradients at D + 1 states, in one batch. Null
// where they are not finite.
std::shared_ptr<const QuadraticEnergy> ReadQuadratic(int64_t dimension, const EvaluateStates& evaluate,
                                                     int threads);

}  // namespace ort_ed
