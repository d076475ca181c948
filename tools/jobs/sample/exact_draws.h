#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ort_ed/energy_function.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/sample/sample_start.h"

namespace ort_ed {

// Up to so many states an enumeration costs about what one chain of the usual length does.
inline constexpr int64_t kFewStates = int64_t{1} << 14;
// More are not enumerated.
inline constexpr int64_t kMostDrawnStates = int64_t{1} << 20;

// The states of what a row leaves open, of the row that leaves most; nothing where they are more than
// kMostDrawnStates.
std::optional<int64_t> CountOpenStates(const Variables& variables, const SampleStart& start);

// Independent draws from exp(-beta U), by the probabilities of all states of what is open. Draw i belongs to
// row i mod rows of the start, as chains do, and keeps what that row clamps.
class ExactDraws {
 public:
  // Throws kInvalidArgument for more than kMostDrawnStates states.
  ExactDraws(const EnergyFunction& energy, const SampleStart& start, double beta, uint64_t seed,
             Observer& observer);

  // Draws first, ..., first + count - 1, as rows of bits; each depends on the seed and its number alone.
  // Throws kInterrupted where the observer asks to stop, and kBadModel where no state has a probability.
  std::vector<uint8_t> Draw(int64_t first, int64_t count);

  int64_t evaluations() const { return evaluations_; }

 private:
  // All states of what a row leaves open, each by its number, and the sums of their weights up to it.
  struct Law {
    std::vector<float> row;
    std::vector<int64_t> open;  // variables
    std::vector<double> sums = {};
  };

  Law Enumerate(int64_t row);
  void SetOpen(const Law& law, int64_t state, float* row) const;
  void DrawOne(const Law& law, int64_t number, uint8_t* bits) const;

  const EnergyFunction& energy_;
  const SampleStart& start_;
  Variables variables_;
  double beta_;
  uint64_t seed_;
  Observer& observer_;
  std::optional<Law> only_;  // where all draws have the same
  int64_t evaluations_ = 0;
};

}  // namespace ort_ed
