#include "runtime/data/table/variable_codec.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/data/table/cell_value.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr size_t kShown = 40;

std::string Shown(const std::string& cell) {
  std::string shown = cell.substr(0, kShown);
  while (!IsUtf8(shown)) shown.pop_back();
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return "'" + shown + (cell.size() > kShown ? "...'" : "'");
}

std::string Known(const Variable& variable) {
  constexpr size_t kMost = 8;
  std::vector<std::string> shown(
      variable.labels.begin(),
      variable.labels.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, variable.labels.size())));
  if (variable.labels.size() > kMost) shown.emplace_back("...");
  return shown.empty() ? "0, 1" : Join(shown, ", ");
}

bool IsWhole(CellValues type) {
  return type == CellValues::kInteger || type == CellValues::kDate || type == CellValues::kTime;
}

// Evenly from low <= value < high.
double DrawBetween(double low, double high, bool whole, RandomStream& random) {
  if (!whole) {
    const double drawn = low + (high - low) * random.UniformDouble();
    return drawn < high ? drawn : low;
  }
  const double first = std::ceil(low), count = std::max(1.0, std::ceil(high) - first);
  return first + std::min(count - 1, std::floor(count * random.UniformDouble()));
}

}  // namespace

VariableEncoder::VariableEncoder(const Variable& variable, bool decimal_comma)
    : variable_(variable), decimal_comma_(decimal_comma) {
  const bool bare = variable.kind == VariableKind::kBinary && variable.labels.empty();
  const std::vector<std::string> labels = bare ? std::vector<std::string>{"0", "1"} : variable.labels;
  for (size_t state = 0; state < labels.size(); ++state) {
    by_label_.emplace(labels[state], static_cast<int64_t>(state));
    const auto number = bare                                   ? ReadAs(labels[state], CellValues::kNumber)
                        : variable.values == CellValues::kText ? std::nullopt
                                                               : ReadAs(labels[state], variable.values, true);
    if (number) by_number_.emplace_back(*number, static_cast<int64_t>(state));
  }
  std::ranges::sort(by_number_);
}

std::optional<int64_t> VariableEncoder::Encode(const std::string& cell) const {
  if (const auto found = by_label_.find(cell); found != by_label_.end()) return found->second;
  if (IsMissingCell(cell)) return variable_.missing_state();
  if (variable_.other && cell == kOtherLabel) return variable_.other_state();
  if (variable_.edges.empty() && by_number_.empty()) return EncodeOther(cell);
  const CellValues type =
      by_number_.empty() || variable_.values != CellValues::kText ? variable_.values : CellValues::kNumber;
  const auto number = ReadAs(cell, type, decimal_comma_);
  if (!number) return EncodeOther(cell);
  if (variable_.edges.empty()) return NearestLabel(*number, cell);
  const auto& edges = variable_.edges;
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, *number);
  return above - edges.begin() - 1;
}

int64_t VariableEncoder::NearestLabel(double number, const std::string& cell) const {
  const auto after = std::ranges::lower_bound(by_number_, std::pair(number, int64_t{0}));
  if (after != by_number_.end() && after->first == number) return after->second;
  if (variable_.other || variable_.kind == VariableKind::kBinary) return EncodeOther(cell);
  if (after == by_number_.begin()) return after->second;
  const auto before = after - 1;
  return after == by_number_.end() || number - before->first < after->first - number ? before->second
                                                                                     : after->second;
}

int64_t VariableEncoder::EncodeOther(const std::string& cell) const {
  if (variable_.other) return *variable_.other_state();
  if (variable_.values != CellValues::kText && variable_.kind != VariableKind::kBinary)
    throw std::invalid_argument(
        "is " + Shown(cell) + ", not a " +
        (variable_.values == CellValues::kInteger ? "number" : ToText(variable_.values)) +
        "; leave it empty if it is not known");
  throw std::invalid_argument("is " + Shown(cell) + ", which is none of " + Known(variable_) +
                              ", and there is no state for other values");
}

std::string DecodeState(const Variable& variable, int64_t state, RandomStream& random,
                        const std::string& missing) {
  const auto index = static_cast<size_t>(state);
  if (state == variable.missing_state()) return missing;
  if (state == variable.other_state()) return kOtherLabel;
  if (variable.edges.empty()) return variable.labels.empty() ? std::to_string(state) : variable.labels[index];
  const double low = variable.edges[index], high = variable.edges[index + 1];
  return FormatAs(DrawBetween(low, high, IsWhole(variable.values), random), variable.values, low, high);
}

}  // namespace ort_ed
