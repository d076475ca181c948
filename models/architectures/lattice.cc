#include "models/architectures/lattice.h"

#include <algorithm>
#include <cstdlib>

namespace ort_ed {
namespace {

// The shorter way from one place to another on a ring.
int64_t RingDistance(int64_t a, int64_t b, int64_t extent) {
  const int64_t way = std::abs(a - b);
  return std::min(way, extent - way);
}

bool Adjacent(const Lattice& lattice, int64_t a, int64_t b) {
  const int64_t rows = RingDistance(a / lattice.width, b / lattice.width, lattice.height);
  const int64_t columns = RingDistance(a % lattice.width, b % lattice.width, lattice.width);
  return a != b && static_cast<double>(rows * rows + columns * columns) <= lattice.reach * lattice.reach;
}

}  // namespace

std::vector<double> LatticeCouplings(const Lattice& lattice, double sigma) {
  const int64_t sites = lattice.height * lattice.width;
  std::vector<double> couplings(static_cast<size_t>(sites * sites));
  for (int64_t a = 0; a < sites; ++a) {
    for (int64_t b = 0; b < sites; ++b)
      if (Adjacent(lattice, a, b)) couplings[static_cast<size_t>(a * sites + b)] = sigma;
  }
  return couplings;
}

}  // namespace ort_ed
