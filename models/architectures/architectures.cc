#include "models/architectures/architectures.h"

#include <string>
#include <vector>

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {

extern const Architecture kIsingArchitecture;
extern const Architecture kRbmArchitecture;
extern const Architecture kMlpArchitecture;
extern const Architecture kResnetArchitecture;

std::span<const Architecture* const> Architectures() {
  static constexpr const Architecture* kArchitectures[] = {&kIsingArchitecture, &kRbmArchitecture,
                                                           &kMlpArchitecture, &kResnetArchitecture};
  return kArchitectures;
}

const Architecture& FindArchitecture(std::string_view name) {
  std::vector<std::string> names;
  for (const Architecture* architecture : Architectures()) {
    if (name == architecture->name) return *architecture;
    names.emplace_back(architecture->name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown architecture '" + std::string(name) + "'; the architectures are " + Join(names, ", "));
}

}  // namespace ort_ed
