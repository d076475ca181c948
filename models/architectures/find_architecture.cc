#include "models/architectures/architectures.h"
#include "runtime/support/named.h"

namespace ort_ed {

KindTable ArchitectureTable() { return ListKinds(Architectures()); }

const ArchitectureKind& FindArchitecture(std::string_view name) {
  return *FindNamed(Architectures(), name, "architecture");
}

}  // namespace ort_ed
