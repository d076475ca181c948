#pragma once

#include <map>

#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"
#include "tests/support/chi_square.h"

namespace ort_ed {

// Sanitizers make samplers many times slower, and look for other faults than wrong laws.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int64_t kFewerChains = 10;
#else
inline constexpr int64_t kFewerChains = 1;
#endif

// How many chains show a law.
constexpr int64_t EnoughChains(int64_t count) { return count / kFewerChains; }

inline std::map<uint32_t, double> CountStates(const Chains& chains) {
  std::map<uint32_t, double> counts;
  for (int64_t chain = 0; chain < chains.count; ++chain) ++counts[StateNumber(chains.state(chain))];
  return counts;
}

// The final states of independent chains against a law; an error of one in 1e9 runs at most.
inline void ExpectLaw(const std::map<uint32_t, double>& counts, const Law& law, const std::string& what) {
  std::map<uint32_t, double> probabilities;
  for (size_t s = 0; s < law.size(); ++s) probabilities[static_cast<uint32_t>(s)] = law[s];
  const ChiSquare test = ChiSquareTest(counts, probabilities);
  EXPECT_TRUE(test.Passes()) << what << ": chi-square " << test.statistic << " with " << test.degrees
                             << " degrees of freedom, bound " << test.Bound();
}

// What is cached equals what it stands for.
inline void ExpectCachesConsistent(const EnergyPath& target, const Chains& chains) {
  std::vector<double> energies(chains.count);
  std::vector<float> gradients(chains.states.size());
  target.energy->EnergyAndGradient(chains.states, energies, gradients);
  std::vector<double> base_energies(chains.count);
  std::vector<float> base_gradients(chains.states.size());
  target.base->EnergyAndGradient(chains.states, base_energies, base_gradients);
  for (int64_t chain = 0; chain < chains.count; ++chain) {
    ASSERT_NEAR(chains.energies[chain], energies[chain], 1e-4) << chain;
    ASSERT_NEAR(chains.base_energies[chain], base_energies[chain], 1e-5) << chain;
  }
  for (size_t i = 0; i < chains.gradients.size(); ++i)
    ASSERT_NEAR(chains.gradients[i], gradients[i], 1e-4) << i;
  for (size_t i = 0; i < chains.base_gradients.size(); ++i)
    ASSERT_NEAR(chains.base_gradients[i], base_gradients[i], 1e-4) << i;
}

}  // namespace ort_ed
