#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ort_ed/options.h"
#include "ort_ed/random.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

// A perturbation q(y|x) with its recovery, the distribution p_neg(.|y) of the paper's section C.1 by which
// the contrastive potential is U_q(y) = -log E[omega exp(-U(x'))], x' ~ p_neg(.|y). One call draws one y and
// its negatives; y itself is never shown.
//
// The minimiser of the energy discrepancy is the data distribution within each class of states that the
// perturbation connects, directly or through others (x and x' are connected if some y can come from both).
// bernoulli and erase connect all states, and so does neighbourhood with `stay` if every coordinate may flip;
// grid only states of equal parity; pool only states with the same number of ones in each block. How much
// mass each class has is left to the form of the energy. A mixture (see mixture.h) connects what any of its
// parts does: grid with a little bernoulli is grid with nothing left open.
class Perturbation {
 public:
  virtual ~Perturbation() = default;

  // Negatives of one positive where the user asks for `requested`: an exact enumeration has its own number.
  virtual int64_t NegativesPerRow(int64_t requested) const { return requested; }

  // Whether the negatives are all recoveries of y, so that the positive is one of them and w = 0 is right.
  virtual bool Enumerates() const { return false; }

  // Whether negatives carry weights omega (the paper's section C.4).
  virtual bool Weighted() const { return false; }

  // Noise that changes in the course of a training does so here: 0 at the first step, 1 at the last.
  virtual void SetProgress(double /*progress*/) {}

  // What the model's metadata tell of it, as of this progress.
  virtual OptionMap Describe(double /*progress*/) const { return {}; }

  // `positive`: dimension values 0/1. `negatives`: a whole number M of rows. `log_weights`: 1 + M values, the
  // positive's first, or empty if not Weighted(). M is what NegativesPerRow() says.
  virtual void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
                       std::span<float> log_weights) const = 0;
};

// Row i of a step's batch depends on (seed, step, first_row + i) and on nothing else.
std::unique_ptr<NegativeSource> MakePerturbationSource(std::unique_ptr<Perturbation> perturbation);

}  // namespace ort_ed
