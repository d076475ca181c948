#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ort_ed {

// log(0) as a number that no energy difference reaches; an infinity would make NaN of differences.
inline constexpr float kLogOfZero = -1e30f;

// What one optimiser step works on: `positives` groups of 1 + `negatives` rows of `dimension` values 0/1. A
// group is a positive followed by its negatives, so that any run of groups is a batch of its own.
struct ContrastiveBatch {
  ContrastiveBatch(int64_t positives_, int64_t negatives_, int64_t dimension_, bool weighted)
      : positives(positives_),
        negatives(negatives_),
        dimension(dimension_),
        rows(static_cast<size_t>(positives * (1 + negatives) * dimension)),
        log_weights(weighted ? static_cast<size_t>(positives * (1 + negatives)) : 0) {}

  std::span<uint8_t> Positive(int64_t i) { return {Group(i), static_cast<size_t>(dimension)}; }
  std::span<uint8_t> Negatives(int64_t i) {
    return {Group(i) + dimension, static_cast<size_t>(negatives * dimension)};
  }
  std::span<float> LogWeights(int64_t i) {
    if (log_weights.empty()) return {};
    return {log_weights.data() + i * (1 + negatives), static_cast<size_t>(1 + negatives)};
  }

  // Where several processes share the rows of a step: which of its groups these are, and how many it has.
  void Place(int64_t first, int64_t of_step) {
    first_group = first;
    step_groups = of_step;
  }

  int64_t positives;
  int64_t first_group = 0;
  int64_t step_groups = positives;
  int64_t negatives;
  int64_t dimension;
  std::vector<uint8_t> rows;       // positives x (1 + negatives) x dimension
  std::vector<float> log_weights;  // positives x (1 + negatives): log omega; empty without weights

 private:
  uint8_t* Group(int64_t i) { return rows.data() + i * (1 + negatives) * dimension; }
};

}  // namespace ort_ed
