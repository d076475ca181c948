#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace ort_ed {

// Valid UTF-8 whatever the names in it are: bytes that are none become U+FFFD.
template <typename Json>
std::string JsonText(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ort_ed
