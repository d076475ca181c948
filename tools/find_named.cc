#include "tools/find_named.h"

#include <spdlog/fmt/ranges.h>

#include "ort_ed/error.h"

namespace ort_ed {

void RefuseUnknownName(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("unknown {} '{}'; there are {}", what, name, fmt::join(known, ", ")));
}

}  // namespace ort_ed
