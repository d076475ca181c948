#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> Split(std::string_view text, char separator);

// The whole text as a decimal number, or nothing.
std::optional<int64_t> ParseInteger(std::string_view text);

// The shortest decimal that reads back as the same float.
std::string Decimal(float value);

// Quoted and escaped.
std::string JsonString(std::string_view text);

}  // namespace ort_ed
