#include "runtime/support/named.h"

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {

void RefuseUnknownName(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  throw Error(ErrorCode::kInvalidArgument, "unknown " + std::string(what) + " '" + std::string(name) +
                                               "'; there are " + Join(known, ", "));
}

}  // namespace ort_ed
