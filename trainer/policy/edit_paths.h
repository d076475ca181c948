#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ort_ed/random.h"

namespace ort_ed {

// What a sampler that draws rows and edits them (models/policy/edit_policy.h) does, given its networks. Many
// ways lead to a row: where it started, and which variables were flipped one after the other. Everything of a
// row depends on its own stream of random numbers alone.

// Numbers of rows of bits, as many of each as there is room for.
using RowNumbers = std::function<void(std::span<const float> rows, std::span<float> numbers)>;

struct EditView {
  int64_t dimension = 0;
  int64_t max_edits = 0;
  RowNumbers log_odds;  // [rows, D], see edit_policy::kLogOdds
  RowNumbers edits;     // [rows, D + 1], see edit_policy::kEdits
};

using Edits = std::vector<uint32_t>;

struct EditedRows {
  std::vector<uint8_t> rows;  // [rows, D], with all edits made
  std::vector<Edits> edits;   // of each
};

// One row for each stream.
EditedRows DrawEditedRows(const EditView& view, std::vector<RandomStream>& random);

// The inverse proposal p' of ways to a row: flips of distinct variables, each further one with probability
// 1/2, all orders alike.
Edits TraceBack(int64_t dimension, int64_t max_edits, RandomStream& random);
// The logarithm of the probability of a way with so many edits.
double LogTraceBack(int64_t dimension, int64_t max_edits, int64_t edits);

// log q(way) - log p'(way) of ways to rows. Of ways drawn by TraceBack() the mean of its exponential is the
// probability that the row is drawn.
std::vector<double> LogWayRatios(const EditView& view, const EditedRows& ways);

double LogSumExp(std::span<const double> values);

}  // namespace ort_ed
