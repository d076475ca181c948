// The table of architectures, and nothing else.

#include "models/architectures/architectures.h"

namespace ort_ed {

extern const ArchitectureKind kIsingArchitecture;
extern const ArchitectureKind kRbmArchitecture;
extern const ArchitectureKind kMlpArchitecture;
extern const ArchitectureKind kResnetArchitecture;
extern const ArchitectureKind kMadeArchitecture;

std::span<const ArchitectureKind* const> Architectures() {
  // clang-format off
  static constexpr const ArchitectureKind* kKinds[] = {
      &kIsingArchitecture,
      &kRbmArchitecture,
      &kMlpArchitecture,
      &kResnetArchitecture,
      &kMadeArchitecture,
  };
  // clang-format on
  return kKinds;
}

}  // namespace ort_ed
