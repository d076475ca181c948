#pragma once

#include <cstdint>
#include <vector>

namespace ort_ed {

struct Lattice {
  int64_t height = 0;
  int64_t width = 0;
  double reach = 1;  // sites up to this distance are adjacent, around the edges
};

// J, sites x sites, row-major: sigma where two sites are adjacent, else 0.
std::vector<double> LatticeCouplings(const Lattice& lattice, double sigma);

}  // namespace ort_ed
