#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

std::string Join(const std::vector<std::string>& parts, std::string_view separator);
// The parts between separators, empty ones included: "a,,b" has three.
std::vector<std::string> Split(std::string_view text, char separator);
// The same without the empty ones.
std::vector<std::string> SplitWords(std::string_view text, char separator);

// The whole text as a decimal number, or nothing.
std::optional<int64_t> ParseInteger(std::string_view text);
std::optional<uint64_t> ParseUnsigned(std::string_view text);
std::optional<double> ParseNumber(std::string_view text);
std::optional<float> ParseFloat(std::string_view text);

// Far beyond what trains, and small enough that products of two extents cannot overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 30;

// "28x30" as {28, 30}, or nothing: no HEIGHTxWIDTH, or extents beyond kMaxExtent.
std::optional<std::vector<int64_t>> ParseShape(std::string_view text);
std::string ShapeText(const std::vector<int64_t>& shape);

// The shortest decimal that reads back as the same number.
std::string Decimal(float value);
std::string Decimal(double value);
// "40 to 44", or "40" where both are the same.
std::string RangeText(const std::string& first, const std::string& last);

// Whether the bytes are text in UTF-8.
bool IsUtf8(std::string_view text);

// Quoted and escaped.
std::string JsonString(std::string_view text);

}  // namespace ort_ed
