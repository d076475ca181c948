#pragma once

#include <string>
#include <vector>

#include "ort_ed/energy_model.h"

namespace ort_ed {

// The couplings of an energy that is quadratic in the spins s = 2x - 1: U = const - h.s - s^T J s with J
// symmetric and a zero diagonal, dimension() x dimension() values. Read from differences of energies; throws
// kInvalidArgument, naming `file`, for an energy that is not quadratic. The model is one of
// LoadForSampling().
std::vector<double> QuadraticCouplings(const EnergyModel& model, const std::string& file);

// Writes a square matrix, one row a line of the file: .npy, .csv or .tsv.
void WriteCouplings(const std::string& path, const std::vector<double>& couplings);

}  // namespace ort_ed
