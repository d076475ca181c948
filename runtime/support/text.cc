#include "runtime/support/text.h"

#include <charconv>

namespace ort_ed {

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) joined += separator;
    joined += part;
  }
  return joined;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::string> SplitWords(std::string_view text, char separator) {
  std::vector<std::string> words = Split(text, separator);
  std::erase(words, "");
  return words;
}

namespace {

template <typename Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename Number>
std::string Shortest(Number value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) { return ParseWhole<int64_t>(text); }
std::optional<uint64_t> ParseUnsigned(std::string_view text) { return ParseWhole<uint64_t>(text); }
std::optional<double> ParseNumber(std::string_view text) { return ParseWhole<double>(text); }
std::optional<float> ParseFloat(std::string_view text) { return ParseWhole<float>(text); }

std::string Decimal(float value) { return Shortest(value); }
std::string Decimal(double value) { return Shortest(value); }

std::optional<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  for (const std::string& part : Split(text, 'x')) {
    const auto extent = ParseInteger(part);
    if (extent && *extent >= 1 && *extent <= kMaxExtent) shape.push_back(*extent);
  }
  if (shape.size() != 2 || ShapeText(shape) != text) return std::nullopt;
  return shape;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return std::to_string(shape.at(0)) + "x" + std::to_string(shape.at(1));
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                                                        : 4;
    if ((length == 4 && (lead < 0xF0 || lead > 0xF4)) || at + length > text.size()) return false;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return false;
    const auto second = length > 1 ? static_cast<unsigned char>(text[at + 1]) : 0x80;
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0, beyond = lead == 0xF4 && second >= 0x90;
    if (overlong || surrogate || beyond) return false;
    at += length;
  }
  return true;
}

std::string JsonString(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += "\\u00";
      quoted += kHex[c >> 4];
      quoted += kHex[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string RangeText(const std::string& first, const std::string& last) {
  return first == last ? first : first + " to " + last;
}

}  // namespace ort_ed
