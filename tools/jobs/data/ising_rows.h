#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace ort_ed {

// Spins on a periodic lattice, p(s) proportional to exp(s'Js), J = sigma where adjacent.
struct IsingRequest {
  int64_t height = 10;
  int64_t width = 10;
  double sigma = 0.2;
  int64_t rows = 2000;
  int64_t updates = 1000000;  // single-site updates of each row's chain, from fair coins
  uint64_t seed = 0;
  int threads = 0;  // the rows do not depend on it
};

// Draws the rows with a bar of progress and hands them to `consume`, many at a time. Throws UsageError for an
// impossible request and kInterrupted.
void DrawIsingRows(const IsingRequest& request,
                   const std::function<void(std::span<const uint8_t> rows)>& consume);

}  // namespace ort_ed
