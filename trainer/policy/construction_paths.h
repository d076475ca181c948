#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ort_ed/random.h"

namespace ort_ed {

// What a construction policy (models/policy) does, given its logits: builds rows, takes rows apart, and
// rebuilds parts of them. Everything of a row depends on its own stream of random numbers alone.

// Logits [rows, 3 D] of states [rows, D] whose variables are 0, 1 or construction_policy::kHole.
using PolicyLogits = std::function<void(std::span<const uint8_t> states, std::span<float> logits)>;

struct PolicyView {
  int64_t dimension = 0;
  PolicyLogits logits;
  int threads = 0;  // 0: all cores; results do not depend on it
};

// Ways from nothing to whole rows.
struct ConstructionPaths {
  std::vector<uint8_t> ends;    // [paths, D]: the rows
  std::vector<uint32_t> order;  // [paths, D]: which variable was set first, second, ...
};

// By D additions, one path for each stream.
ConstructionPaths BuildRows(const PolicyView& policy, std::vector<RandomStream>& random);

// By D removals from each row, read backwards.
ConstructionPaths TakeApart(const PolicyView& policy, std::span<const uint8_t> rows,
                            std::vector<RandomStream>& random);

struct Reconstruction {
  std::vector<uint8_t> rows;  // [rows, D]
  // log of the probability of the way back from each row, over that of the way there.
  std::vector<double> log_ratios;
};

// By `count` removals from each row and as many additions.
Reconstruction Reconstruct(const PolicyView& policy, std::span<const uint8_t> rows, int64_t count,
                           std::vector<RandomStream>& random);

// log P_F(path) - log P_B(path) of each path. Of paths drawn by TakeApart() from a row, the mean of its
// exponential is the probability that the policy builds the row.
std::vector<double> LogPathRatios(const PolicyView& policy, const ConstructionPaths& paths);

// The D + 1 states of each path, as rows of codes for the form for training, [paths, D + 1, D].
std::vector<uint8_t> EncodePaths(const ConstructionPaths& paths, int64_t dimension);

}  // namespace ort_ed
