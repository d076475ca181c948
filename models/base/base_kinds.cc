// The table of base distributions, and nothing else.

#include "models/base/base_kind.h"

namespace ort_ed {

extern const BaseKind kAutoBase;
extern const BaseKind kDataBase;
extern const BaseKind kMadeBase;
extern const BaseKind kNoBase;

std::span<const BaseKind* const> BaseKinds() {
  static constexpr const BaseKind* kKinds[] = {
      &kAutoBase,
      &kDataBase,
      &kMadeBase,
      &kNoBase,
  };
  return kKinds;
}

}  // namespace ort_ed
