#pragma once

#include <string>

#include "ort_ed/base_distribution.h"
#include "ort_ed/options.h"

namespace ort_ed {

inline void RequireLearnedBase(const BaseDistribution* base, const std::string& method) {
  if (base == nullptr || base->autoregressive() == nullptr)
    throw OptionError("method", method + " needs a learned base: choose `base` made, or a file of one");
}

}  // namespace ort_ed
