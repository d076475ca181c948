#include "sampler/kinds/local_states.h"

#include <algorithm>
#include <cmath>

#include "sampler/kinds/gradient_sampler.h"

namespace ort_ed {

LocalStates::LocalStates(const Variables& variables, std::span<const int32_t> free, const float* row,
                         std::span<const double> slopes) {
  for (size_t v = 0; v < free.size(); ++v) {
    const int64_t bits = variables.bits(free[v]), bit = variables.first_bit(free[v]);
    current_.push_back(starts_.back() + static_cast<int32_t>(variables.State(row, free[v])));
    if (bits == 1) halves_.push_back(0);
    for (int64_t k = 0; k < bits; ++k) halves_.push_back(-slopes[bit + k] / 2);
    starts_.push_back(static_cast<int32_t>(halves_.size()));
    variable_of_.resize(halves_.size(), static_cast<int32_t>(v));
  }
}

double LocalStates::Gain(int32_t from, int32_t to) const {
  return std::clamp(halves_[to] - halves_[from], -kLargestGain, kLargestGain);
}

std::vector<double> MoveWeights(const LocalStates& local) {
  std::vector<double> weights(local.end(local.size() - 1));
  for (int32_t state = 0; state < std::ssize(weights); ++state)
    if (state != local.current(local.variable_of(state))) weights[state] = std::exp(local.Gain(state));
  return weights;
}

}  // namespace ort_ed
