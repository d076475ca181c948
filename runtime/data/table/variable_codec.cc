#include "runtime/data/table/variable_codec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
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

bool IsWhole(CellValues type) { return type != CellValues::kNumber && type != CellValues::kText; }

// What a cell should be.
std::string Wanted(CellValues type) {
  if (type == CellValues::kInteger) return "number";
  return type == CellValues::kClock ? "time of the day" : ToText(type);
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

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

bool IsNoOrYes(const std::vector<std::string>& words) {
  std::set<std::string> lower;
  for (const std::string& word : words) lower.insert(Lower(word));
  using Words = std::set<std::string>;
  return lower == Words{"false", "true"} || lower == Words{"no", "yes"} || lower == Words{"n", "y"} ||
         lower == Words{"f", "t"};
}

VariableEncoder::VariableEncoder(const Variable& variable, bool decimal_comma)
    : variable_(variable), decimal_comma_(decimal_comma) {
  const bool bare = variable.kind == VariableKind::kBinary && variable.labels.empty();
  const std::vector<std::string> labels = bare ? std::vector<std::string>{"0", "1"} : variable.labels;
  for (size_t state = 0; state < labels.size(); ++state) {
    by_label_.emplace(labels[state], static_cast<int64_t>(state));
    const auto number = bare ? ReadAs(labels[state], CellValues::kNumber)
                        : variable.values == CellValues::kText
                            ? std::nullopt
                            : ReadAs(labels[state], variable.values, true, variable.format);
    if (number) by_number_.emplace_back(*number, static_cast<int64_t>(state));
  }
  std::ranges::sort(by_number_);
  if (IsNoOrYes(labels))
    for (size_t state = 0; state < labels.size(); ++state)
      by_word_.emplace(Lower(labels[state]), static_cast<int64_t>(state));
}

std::optional<int64_t> VariableEncoder::Encode(const std::string& cell, CellFit* fit) const {
  CellFit ignored;
  CellFit& told = fit == nullptr ? ignored : *fit;
  told = CellFit::kOwn;
  return Find(cell, told);
}

std::optional<int64_t> VariableEncoder::Find(const std::string& cell, CellFit& fit) const {
  if (const auto found = by_label_.find(cell); found != by_label_.end()) return found->second;
  if (IsMissingCell(cell)) return variable_.missing_state();
  if (!by_word_.empty())
    if (const auto found = by_word_.find(Lower(cell)); found != by_word_.end()) return found->second;
  if (variable_.other && cell == kOtherLabel) return variable_.other_state();
  if (variable_.edges.empty() && by_number_.empty()) return EncodeOther(cell, fit);
  const CellValues type =
      by_number_.empty() || variable_.values != CellValues::kText ? variable_.values : CellValues::kNumber;
  const auto number = ReadAs(cell, type, decimal_comma_, variable_.format);
  if (!number) return EncodeOther(cell, fit);
  if (variable_.edges.empty()) return NearestLabel(*number, cell, fit);
  const auto& edges = variable_.edges;
  if (*number < edges.front() || *number >= edges.back()) fit = CellFit::kNearest;
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, *number);
  return above - edges.begin() - 1;
}

int64_t VariableEncoder::NearestLabel(double number, const std::string& cell, CellFit& fit) const {
  const auto after = std::ranges::lower_bound(by_number_, std::pair(number, int64_t{0}));
  if (after != by_number_.end() && after->first == number) return after->second;
  if (variable_.other || variable_.kind == VariableKind::kBinary) return EncodeOther(cell, fit);
  fit = CellFit::kNearest;
  if (after == by_number_.begin()) return after->second;
  const auto before = after - 1;
  return after == by_number_.end() || number - before->first < after->first - number ? before->second
                                                                                     : after->second;
}

int64_t VariableEncoder::EncodeOther(const std::string& cell, CellFit& fit) const {
  fit = CellFit::kOther;
  if (variable_.other) return *variable_.other_state();
  if (variable_.values != CellValues::kText && variable_.kind != VariableKind::kBinary)
    throw std::invalid_argument("is " + Shown(cell) + ", not a " + Wanted(variable_.values) +
                                (variable_.format.empty() ? "" : " written " + variable_.format) +
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
  return FormatAs(DrawBetween(low, high, IsWhole(variable.values), random), variable.values, low, high,
                  variable.format);
}

std::string DescribeState(const Variable& variable, int64_t state) {
  const auto index = static_cast<size_t>(state);
  const bool bin = index + 1 < variable.edges.size();
  if (!bin || (variable.values != CellValues::kDate && variable.values != CellValues::kTime &&
               variable.values != CellValues::kClock && variable.format.empty()))
    return variable.StateName(state);
  const auto text = [&](double edge) {
    return FormatAs(edge, variable.values, edge, std::nextafter(edge, INFINITY), variable.format);
  };
  const double low = variable.edges[index], high = variable.edges[index + 1];
  return variable.values == CellValues::kInteger ? RangeText(text(std::ceil(low)), text(std::ceil(high) - 1))
                                                 : "[" + text(low) + ", " + text(high) + ")";
}

}  // namespace ort_ed
