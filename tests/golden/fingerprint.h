#pragma once

#include <nlohmann/json.hpp>

namespace ort_ed {

// What the last bits of a result depend on: the processor's instructions, libraries, the compiler.
nlohmann::json Fingerprint();

}  // namespace ort_ed
