#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ort_ed/error.h"

namespace ort_ed {

// Throws kInvalidArgument where a tensor has another size or values that are not finite.
inline void CheckValues(const std::vector<float>& values, size_t count, const std::string& name) {
  if (values.size() != count)
    throw Error(ErrorCode::kInvalidArgument, "'" + name + "' has " + std::to_string(values.size()) +
                                                 " values instead of " + std::to_string(count));
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error(ErrorCode::kInvalidArgument, "'" + name + "' has values that are not finite");
}

}  // namespace ort_ed
