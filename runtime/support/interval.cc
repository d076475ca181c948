#include "runtime/support/interval.h"

#include <limits>
#include <stdexcept>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

double Bound(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  const auto value = ParseNumber(text);
  if (!value) throw std::logic_error("no bound: " + std::string(text));
  return *value;
}

}  // namespace

Interval::Interval(const std::string& text) {
  const size_t comma = text.find(", ");
  if (comma == std::string::npos) throw std::logic_error("no interval: " + text);
  low_ = Bound(std::string_view(text).substr(1, comma - 1));
  high_ = Bound(std::string_view(text).substr(comma + 2, text.size() - comma - 3));
  includes_low_ = text.front() == '[';
  includes_high_ = text.back() == ']';
}

}  // namespace ort_ed
