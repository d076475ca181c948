#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ort_ed/random.h"
#include "runtime/data/gray_code.h"

namespace ort_ed {

// A density on the plane with known samples, coded as 32 bits by PlanarCode(f_scale): the classical tests of
// discrete energy-based models.
struct PlanarDensity {
  const char* name;
  const char* summary;
  double f_scale;
  // Entropy of the coded points in nats: no model's mean negative log-likelihood can be below it, but for
  // noise.
  double entropy;
  PlanarPoint (*draw)(RandomStream& random);
};

std::span<const PlanarDensity> PlanarDensities();

// Throws kInvalidArgument, listing the names, for one that does not exist.
const PlanarDensity& FindPlanarDensity(const std::string& name);

// Point number `row` of the stream `seed`: a pure function of the three.
PlanarPoint DrawPlanarPoint(const PlanarDensity& density, uint64_t seed, uint64_t row);

// Rows first_row, first_row + 1, ... of the same stream as bits, PlanarCode::kBits each, as many as `rows`
// holds.
void DrawPlanarRows(const PlanarDensity& density, uint64_t seed, uint64_t first_row, std::span<uint8_t> rows);

}  // namespace ort_ed
