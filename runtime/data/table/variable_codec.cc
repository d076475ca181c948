#include "runtime/data/table/variable_codec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <stdexcept>

#include "runtime/data/table/cell_format.h"
#include "runtime/data/table/cell_value.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr size_t kShown = 40;
constexpr double kMinuteSeconds = 60;

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

// For messages: " written DD/MM/YYYY".
std::string WrittenHow(const Variable& variable) {
  std::string format = variable.format;
  if (format.empty() && variable.values == CellValues::kDate) format = "YYYY-MM-DD";
  if (format.empty() && variable.values == CellValues::kTime) format = "YYYY-MM-DDThh:mm:ss";
  if (format.empty() && variable.values == CellValues::kClock) format = "hh:mm:ss";
  return format.empty() ? "" : " written " + format;
}

// How far whole values lie apart: times without seconds by minutes.
double StepOf(const Variable& variable) {
  const bool time = variable.values == CellValues::kClock || variable.values == CellValues::kTime;
  return time && IsInMinutes(variable.format) ? kMinuteSeconds : 1;
}

// Evenly from low <= value < high.
double DrawBetween(double low, double high, const Variable& variable, RandomStream& random) {
  if (!IsWhole(variable.values)) {
    const double drawn = low + (high - low) * random.UniformDouble();
    return drawn < high ? drawn : low;
  }
  const double step = StepOf(variable), first = std::ceil(low / step);
  const double count = std::max(1.0, std::ceil(high / step) - first);
  return step * (first + std::min(count - 1, std::floor(count * random.UniformDouble())));
}

// How many values of a column with decimals there are from one whole number to the next; 0 where that is not
// known.
double ValuesPerOne(const Variable& variable) {
  const int decimals = ParseNumberFormat(variable.format).decimals;
  return decimals > 0 ? std::pow(10.0, decimals) : 0;
}

// The first of those values that is not below: its number.
double FirstFrom(double value, double per_one) {
  const double nearest = std::round(value * per_one);
  return nearest / per_one >= value ? nearest : nearest + 1;
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
                                WrittenHow(variable_));
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
  return FormatAs(DrawBetween(low, high, variable, random), variable.values, low, high, variable.format);
}

std::string DescribeState(const Variable& variable, int64_t state) {
  const auto index = static_cast<size_t>(state);
  return index + 1 < variable.edges.size()
             ? DescribeRange(variable, variable.edges[index], variable.edges[index + 1])
             : variable.StateName(state);
}

std::string DescribeRange(const Variable& variable, double low, double high) {
  const auto text = [&](double value) {
    return FormatAs(value, variable.values, value, std::nextafter(value, INFINITY), variable.format);
  };
  if (IsWhole(variable.values)) {
    const double step = StepOf(variable);
    return RangeText(text(step * std::ceil(low / step)), text(step * (std::ceil(high / step) - 1)));
  }
  if (const double per_one = ValuesPerOne(variable); per_one > 0)
    return RangeText(text(FirstFrom(low, per_one) / per_one), text((FirstFrom(high, per_one) - 1) / per_one));
  const double last = std::nextafter(high, -INFINITY);
  const bool closed = Decimal(last).size() < Decimal(high).size();
  return closed ? RangeText(text(low), text(last)) : "[" + text(low) + ", " + text(high) + ")";
}

}  // namespace ort_ed
