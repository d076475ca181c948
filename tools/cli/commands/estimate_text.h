#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "ort_ed/log_z.h"

namespace ort_ed {

// "1.2345 +- 0.0678", or that the error is not known.
std::string WithError(double value, double error);

// An estimate for people and for programs.
std::string ToText(const LogZEstimate& estimate);
nlohmann::ordered_json ToJson(const LogZEstimate& estimate);

}  // namespace ort_ed
