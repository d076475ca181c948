#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace ort_ed {

// A named piece of what a training has learned so far and goes on from. `owner`: "energy" for the network's
// parameters, averages and moments (StateNames() of optimizer.h), where `parameter` is the initialiser it
// belongs to; "negatives" for what a source of negatives keeps, "negatives/policy" for a network of its own.
struct StateTensor {
  std::string owner = "energy";
  std::string kind;
  std::string parameter = {};
  std::vector<int64_t> shape = {};
  std::vector<float> values = {};    // row-major, or ...
  std::vector<uint8_t> octets = {};  // ... small whole numbers, such as states

  int64_t ElementCount() const {  // by its shape
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
};

}  // namespace ort_ed
