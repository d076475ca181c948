#pragma once

#include <array>
#include <string>

#include "tests/sampler/law_test.h"

namespace ort_ed {

// Probabilities or counts of one step from each of N states to each.
template <size_t N>
using TransitionMatrix = std::array<std::array<double, N>, N>;

template <size_t N>
void ExpectTransitions(const TransitionMatrix<N>& counts, const TransitionMatrix<N>& exact) {
  for (size_t s = 0; s < N; ++s) {
    std::map<uint32_t, double> row;
    for (size_t t = 0; t < N; ++t)
      if (counts[s][t] > 0) row[static_cast<uint32_t>(t)] = counts[s][t];
    ExpectLaw(row, Law(exact[s].begin(), exact[s].end()), "from state " + std::to_string(s));
  }
}

template <size_t N>
TransitionMatrix<N> Multiply(const TransitionMatrix<N>& a, const TransitionMatrix<N>& b) {
  TransitionMatrix<N> product{};
  for (size_t i = 0; i < N; ++i)
    for (size_t k = 0; k < N; ++k)
      for (size_t j = 0; j < N; ++j) product[i][j] += a[i][k] * b[k][j];
  return product;
}

// Metropolis-Hastings with a proposal matrix.
template <size_t N>
TransitionMatrix<N> Metropolis(const Law& law, const TransitionMatrix<N>& proposal) {
  TransitionMatrix<N> kernel{};
  for (size_t s = 0; s < N; ++s) {
    kernel[s][s] = 1;
    for (size_t t = 0; t < N; ++t) {
      if (t == s || proposal[s][t] == 0) continue;
      kernel[s][t] = std::min(proposal[s][t], law[t] / law[s] * proposal[t][s]);
      kernel[s][s] -= kernel[s][t];
    }
  }
  return kernel;
}

}  // namespace ort_ed
