#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ort_ed {

// Values within one another.
inline constexpr int kDeepestJson = 32;

// The JSON object that `text` is; nothing if it is none, or deeper than that: reading it takes no stack for
// each level, but copying and writing do.
std::optional<nlohmann::ordered_json> ParseJsonObject(std::string_view text);

}  // namespace ort_ed
