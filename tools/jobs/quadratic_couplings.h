#pragma once

#include <string>
#include <vector>

#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// The couplings of an energy that is quadratic in the spins s = 2x - 1: U = const - h.s - s^T J s with J
// symmetric and a zero diagonal, dimension() x dimension() values. Read from differences of energies. Throws
// kInvalidArgument for an energy that is not quadratic, and kInterrupted.
std::vector<double> QuadraticCouplings(const LoadedModel& model, Observer& observer);

// Writes a square matrix, one row per line of the file: .npy, .csv or .tsv.
void WriteCouplings(const std::string& path, const std::vector<double>& couplings);

}  // namespace ort_ed
