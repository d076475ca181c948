#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/variables.h"
#include "runtime/data/row_reader.h"
#include "trainer/learner/learner.h"

namespace ort_ed {

// How likely held-out rows are, in nats per row.
struct LikelihoodEstimate {
  static constexpr double kEnoughDraws = 100;  // log Z is then known within about 0.1 nats
  static constexpr double kSomeDraws = 10;     // with less the figure says nothing

  double nll = 0;
  std::optional<double> effective = {};  // draws that carry it, too low where they are few; none: exact

  bool reliable() const { return !effective || *effective >= kEnoughDraws; }
  bool tells_something() const { return !effective || *effective >= kSomeDraws; }
};

// The likelihood of held-out rows under a network in training, cheap enough for every validation. Where there
// are few states log Z is their sum. Else it is estimated by draws of a distribution p0, the same ones every
// time: log Z = log E[exp(-U) / p0].
class HeldOutLikelihood {
 public:
  // What the rows are, and what is known about them.
  struct Rows {
    const RowTable& held_out;
    Variables variables;
    std::vector<double> mean;                // of each column of the training rows
    const BaseDistribution* base = nullptr;  // a learned one under the network; null: none
    bool alone = false;  // whether the learner's energies are those of the network without that base
    uint64_t seed = 0;
  };
  explicit HeldOutLikelihood(const Rows& rows);

  // With the averaged parameters; several processes share the energies.
  LikelihoodEstimate Compute(Learner& learner, Collective& processes = Alone());

  // About what the model of the last Compute() draws: `count` of the states that its log Z was made of, by
  // their weights; few different ones where few draws carry it. Nothing before, or where less than some do.
  std::vector<float> Samples(int64_t count) const;

  // Of the learned base by itself, else of independent variables with the means of the data.
  double base_nll() const { return base_nll_; }

 private:
  std::vector<double> Energies(Learner& learner, const std::vector<float>& states,
                               const std::vector<double>& below, Collective& processes) const;

  bool exact_ = false;
  std::vector<float> rows_, states_;
  // To be added to the learner's energies: those of a base that the learner does not know.
  std::vector<double> below_rows_, below_states_;
  std::vector<double> log_weights_;  // of the states, without the energies' part
  double base_nll_ = 0;
  std::vector<double> last_log_weights_;  // of the states in the last estimate; empty: it told nothing
};

}  // namespace ort_ed
