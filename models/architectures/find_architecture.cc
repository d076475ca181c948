#include "models/architectures/architectures.h"
#include "runtime/support/named.h"

namespace ort_ed {

KindTable ArchitectureTable() {
  KindTable table;
  for (const ArchitectureKind* kind : Architectures())
    table.rows.push_back({kind->name, kind->summary, &kind->schema()});
  return table;
}

const ArchitectureKind& FindArchitecture(std::string_view name) {
  return *FindNamed(Architectures(), name, "architecture");
}

}  // namespace ort_ed
