#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/random.h"
#include "trainer/negatives/contrastive_batch.h"

namespace ort_ed {

struct PerturbationOptions {
  int64_t dimension = 0;
  std::vector<double> epsilon = {0.1};  // bernoulli: probability that a bit flips, in (0, 1); several: mixed
  std::vector<int64_t> image_shape = {};  // pool: {height, width}; empty: {dimension, 1}
  std::vector<int64_t> window = {};       // pool: {h, w} or {h}; empty: the whole image
  int64_t block = 1;                      // erase: how many coordinates
  bool exact = false;  // enumerate the recoveries instead of sampling them, where the method can
  // neighbourhood: which single flips lead from x to its neighbours. "up" (0 to 1), "down" (1 to 0) or "both"
  // for all coordinates, or one of + - * . a coordinate ('.' never flips).
  std::string moves = "up";
  bool stay = true;  // neighbourhood: x is a neighbour of itself
};

// A perturbation q(y|x) with its recovery, the distribution p_neg(.|y) of the paper's section C.1 by which
// the contrastive potential is U_q(y) = -log E[omega exp(-U(x'))], x' ~ p_neg(.|y). One call draws one y and
// its negatives; y itself is never shown.
//
// The minimiser of the energy discrepancy is the data distribution within each class of states that the
// perturbation confuses with one another, directly or through others (x and x' are confused if some y can
// come from both). bernoulli and erase confuse all states, and so does neighbourhood with `stay` if every
// coordinate may flip; grid only states of equal parity; pool only states with the same number of ones in
// each block. How much mass each class has is left to the form of the energy. A mixture (see mixture.h)
// confuses what any of its parts does: grid with a little bernoulli is grid with nothing left open.
class Perturbation {
 public:
  virtual ~Perturbation() = default;

  // Negatives of one positive where the user asks for `requested`: an exact enumeration has its own number.
  virtual int64_t NegativesPerRow(int64_t requested) const { return requested; }

  // Whether the negatives are all recoveries of y, so that the positive is one of them and w = 0 is right.
  virtual bool Enumerates() const { return false; }

  // Whether negatives carry weights omega (the paper's section C.4).
  virtual bool Weighted() const { return false; }

  // `positive`: dimension values 0/1. `negatives`: a whole number M of rows. `log_weights`: 1 + M values, the
  // positive's first, or empty if not Weighted(). M is what NegativesPerRow() says.
  virtual void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
                       std::span<float> log_weights) const = 0;
};

struct PerturbationKind {
  const char* name;
  const char* description;
  bool can_enumerate;  // takes PerturbationOptions::exact
  // Throws kInvalidArgument for options that make no sense.
  std::unique_ptr<Perturbation> (*make)(const PerturbationOptions& options);
};

std::span<const PerturbationKind* const> Perturbations();

// Throws kInvalidArgument for an unknown name; the message lists the candidates.
const PerturbationKind& FindPerturbation(const std::string& name);

// `name` is one of Perturbations(), or several joined by '+' for a mixture of them.
std::unique_ptr<Perturbation> MakePerturbation(const std::string& name, const PerturbationOptions& options);

// Draws the negatives, and log omega where there is one, of every positive of the batch. Row i depends on
// (seed, step, first_row + i) and on nothing else.
void FillNegatives(const Perturbation& perturbation, uint64_t seed, uint64_t step, int64_t first_row,
                   ContrastiveBatch& batch);

}  // namespace ort_ed
