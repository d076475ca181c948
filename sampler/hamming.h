#pragma once

#include <algorithm>
#include <cstdint>

#include "ort_ed/variables.h"

namespace ort_ed {

// How many variables have another state in `a` than in `b`.
template <typename T>
int64_t HammingDistance(const Variables& variables, const T* a, const T* b) {
  int64_t distance = 0;
  if (variables.all_binary()) {
    for (int64_t i = 0; i < variables.dimension(); ++i) distance += a[i] != b[i] ? 1 : 0;
    return distance;
  }
  for (int64_t v = 0; v < variables.size(); ++v) {
    const int64_t first = variables.first_bit(v);
    if (!std::equal(a + first, a + first + variables.bits(v), b + first)) ++distance;
  }
  return distance;
}

}  // namespace ort_ed
