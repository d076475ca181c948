#pragma once

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "trainer/negatives/contrastive_batch.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

// States of {0,1}^D as numbers: bit i is coordinate i.
using State = uint32_t;

std::vector<uint8_t> RowOf(State state, int dimension);
State StateOf(std::span<const uint8_t> row);

// A batch of the shape that the source asks for; its positives are zeros.
ContrastiveBatch EmptyBatch(const NegativeSource& source, int64_t positives, int64_t requested,
                            int64_t dimension);

// A perturbation written down from the definitions of the paper by enumeration of all states, independently
// of the code under test.
struct PerturbationLaw {
  struct Recovery {
    State state;
    double probability;
    double omega;
  };

  Choice method;  // of the code under test
  RowContext rows;
  std::string label;  // what distinguishes it from others of its kind
  int dimension = 0;
  bool any_exact = false;                         // some rows' negatives are not drawn, ...
  bool all_exact = false;                         // ... or those of no row
  std::vector<std::map<int, double>> forward;     // [x]: y -> q(y|x); y is any number
  std::map<int, std::vector<Recovery>> recovery;  // y -> p_neg(x'|y) with omega
  // Sum over x' of q(y|x') exp(-U(x')) is this multiple of the recovery's expectation: the size of the
  // preimage for pool, likewise for erase, 1 otherwise.
  std::map<int, double> volume;

  std::string Name() const;
  std::unique_ptr<NegativeSource> Make() const { return MakeNegatives(method, rows); }
  State States() const { return State{1} << dimension; }
};
inline void PrintTo(const PerturbationLaw& law, std::ostream* out) { *out << law.Name(); }

PerturbationLaw BernoulliLaw(int dimension, double epsilon);
PerturbationLaw PoolLaw(int height, int width, int window_height, int window_width);
PerturbationLaw GridLaw(int dimension, bool exact);
PerturbationLaw NeighbourhoodLaw(const std::string& moves, bool stay, bool exact);
PerturbationLaw EraseLaw(int dimension, int block, bool exact);

// Each row follows one of the laws, with equal probabilities; the negatives know which.
PerturbationLaw BernoulliLevelsLaw(int dimension, double low, double high);
PerturbationLaw GridAndBernoulliLaw(int dimension, double epsilon, bool exact);
PerturbationLaw BernoulliAndNeighbourhoodLaw(double epsilon, const std::string& moves);

// One of each kind, small enough for everything to be enumerated.
std::vector<PerturbationLaw> SmallLaws();

// Classes of states that the law confuses: class number by state.
std::vector<int> ConfusedClasses(const PerturbationLaw& law);

// -log sum over x' of q(y|x') exp(-U(x')).
double ContrastivePotential(const PerturbationLaw& law, const std::vector<double>& energy, int y);

// ED_q(p, U) by its definition: sum over all x and y.
double ExactEnergyDiscrepancy(const PerturbationLaw& law, const std::vector<double>& data,
                              const std::vector<double>& energy);

}  // namespace ort_ed
