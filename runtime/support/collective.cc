#include "runtime/support/collective.h"

#include <algorithm>

namespace ort_ed {

bool Collective::Any(bool here) { return std::ranges::count(Gather(here ? "1" : "0"), "1") > 0; }

void OneProcess::Exchange(std::span<const std::span<const std::byte>> outgoing,
                          std::span<const std::span<std::byte>> incoming) {
  std::ranges::copy(outgoing[0], incoming[0].begin());
}

Collective& Alone() {
  static OneProcess alone;
  return alone;
}

}  // namespace ort_ed
