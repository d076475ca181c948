// The table of synthetic sets. A new one: a file with its class, declared in synthetic_kinds.h, and a row
// here.

#include "tools/jobs/data/synthetic_kinds.h"

namespace ort_ed {

std::span<const SyntheticKind> SyntheticSets() {
  static const std::vector<SyntheticKind> kinds = [] {
    std::vector<SyntheticKind> all = PlanarKinds();
    all.push_back(IsingKind());
    return all;
  }();
  return kinds;
}

}  // namespace ort_ed
