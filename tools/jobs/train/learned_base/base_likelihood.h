#pragma once

#include <cstdint>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "runtime/data/row_reader.h"
#include "trainer/learner/learner.h"

namespace ort_ed {

// The likelihood of held-out rows under a network on a learned base, cheap enough for every validation:
// with U = net - log p0, log Z = log E[exp(-net)] over draws of p0, the same ones every time.
class BaseLikelihood {
 public:
  // `alone`: whether the learner's energies are those of the network without the base.
  BaseLikelihood(const BaseDistribution& base, const RowTable& rows, bool alone, uint64_t seed);

  struct Estimate {
    double nll = 0;        // nats per row; too low where few draws carry the mean
    double effective = 0;  // draws
  };
  // With the averaged parameters.
  Estimate Compute(Learner& learner) const;

  double base_nll() const { return base_nll_; }  // of the base by itself, exact

 private:
  std::vector<double> NetEnergies(Learner& learner, const std::vector<float>& rows,
                                  const std::vector<double>& base_energies) const;

  bool alone_;
  std::vector<float> rows_, draws_;
  std::vector<double> row_energies_, draw_energies_;  // of the base
  double base_nll_ = 0;
};

}  // namespace ort_ed
