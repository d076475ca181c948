#include "ort_ed/variables.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr size_t kMaxStates = 1 << 16;

[[noreturn]] void Refuse(const Variable& variable, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "the variable '" + variable.name + "' " + why);
}

void CheckLabels(const Variable& variable) {
  std::set<std::string_view> seen;
  for (const std::string& label : variable.labels)
    if (!seen.insert(label).second) Refuse(variable, "has the label '" + label + "' twice; leave one out");
}

void CheckEdges(const Variable& variable) {
  if (variable.edges.empty()) return;
  if (!variable.labels.empty()) Refuse(variable, "has labels and edges; it needs one of them");
  if (variable.values == CellValues::kText) Refuse(variable, "has edges, but its values are text");
  if (std::ranges::any_of(variable.edges, [](double edge) { return !std::isfinite(edge); }) ||
      std::ranges::adjacent_find(variable.edges, std::greater_equal<>()) != variable.edges.end())
    Refuse(variable, "has edges that do not rise; write them from the lowest to the highest");
}

void Check(const Variable& variable) {
  CheckLabels(variable);
  CheckEdges(variable);
  if (variable.labels.size() > kMaxStates || variable.edges.size() > kMaxStates)
    Refuse(variable, "has more than " + std::to_string(kMaxStates) + " states");
  if (variable.kind == VariableKind::kBinary) {
    if (!variable.edges.empty() || variable.other || variable.missing ||
        (!variable.labels.empty() && variable.labels.size() != 2))
      Refuse(variable, "is binary: it has two labels or none, and nothing else");
  } else if (variable.plain_states() < 1 || variable.states() < 2) {
    Refuse(variable, "has fewer than two states; give it labels, edges or other = true");
  }
}

template <typename T>
int64_t CountOnes(const T* bits, int64_t count) {
  return std::count_if(bits, bits + count, [](T bit) { return bit != T{0}; });
}

template <typename T>
std::optional<int64_t> FindBrokenIn(const Variables& variables, std::span<const T> row) {
  if (variables.all_binary()) return std::nullopt;
  for (int64_t v = 0; v < variables.size(); ++v) {
    const int64_t bits = variables.bits(v);
    if (bits > 1 && CountOnes(row.data() + variables.first_bit(v), bits) != 1) return v;
  }
  return std::nullopt;
}

template <typename T>
std::string DescribeBrokenIn(const Variables& variables, std::span<const T> row, int64_t variable) {
  const int64_t first = variables.first_bit(variable), bits = variables.bits(variable);
  const int64_t ones = CountOnes(row.data() + first, bits);
  return "the " + std::to_string(bits) + " states of '" + variables.Name(variable) + "' (columns " +
         std::to_string(first + 1) + " to " + std::to_string(first + bits) + ", from 1) have " +
         (ones == 0 ? "no one" : std::to_string(ones) + " ones") + "; exactly one is needed";
}

}  // namespace

int64_t Variable::states() const {
  if (kind == VariableKind::kBinary) return 2;
  const size_t plain = edges.empty() ? labels.size() : edges.size() - 1;
  return static_cast<int64_t>(plain) + (other ? 1 : 0) + (missing ? 1 : 0);
}

std::optional<int64_t> Variable::other_state() const {
  return other ? std::optional(plain_states()) : std::nullopt;
}

std::optional<int64_t> Variable::missing_state() const {
  return missing ? std::optional(states() - 1) : std::nullopt;
}

std::string Variable::StateName(int64_t state) const {
  const auto index = static_cast<size_t>(state);
  if (state == other_state()) return "(other)";
  if (state == missing_state()) return "(missing)";
  if (index < labels.size()) return labels[index];
  if (index + 1 < edges.size()) {
    const double low = edges[index], high = edges[index + 1];
    return values == CellValues::kInteger ? RangeText(Decimal(std::ceil(low)), Decimal(std::ceil(high) - 1))
                                          : "[" + Decimal(low) + ", " + Decimal(high) + ")";
  }
  return std::to_string(state);
}

Variables Variables::Binary(int64_t dimension) {
  Variables variables;
  variables.dimension_ = dimension;
  return variables;
}

Variables::Variables(std::vector<Variable> list) {
  Layout layout;
  std::set<std::string_view> names;
  for (const Variable& variable : list) {
    if (variable.name.empty())
      throw Error(ErrorCode::kInvalidArgument, "a variable has no name; give it that of its column");
    if (!names.insert(variable.name).second) Refuse(variable, "occurs twice");
    Check(variable);
    const int64_t bits = variable.bits();
    if (dimension_ + bits > kMaxBits)
      throw Error(ErrorCode::kInvalidArgument,
                  "the variables have more than " + std::to_string(kMaxBits) + " bits");
    all_binary_ &= bits == 1;
    layout.variable_of.resize(static_cast<size_t>(dimension_ + bits),
                              static_cast<int32_t>(layout.bits.size()));
    layout.first_bits.push_back(dimension_);
    layout.bits.push_back(bits);
    dimension_ += bits;
  }
  layout.list = std::move(list);
  layout_ = std::make_shared<const Layout>(std::move(layout));
}

std::optional<int64_t> Variables::Find(std::string_view name) const {
  for (int64_t v = 0; described() && v < size(); ++v)
    if ((*this)[v].name == name) return v;
  return std::nullopt;
}

int64_t Variables::most_states() const {
  return all_binary_ ? 2 : std::max<int64_t>(2, *std::ranges::max_element(layout_->bits));
}

std::string Variables::Name(int64_t variable) const {
  return described() ? (*this)[variable].name : "variable " + std::to_string(variable + 1);
}

std::string Variables::BitName(int64_t bit) const {
  const int64_t variable = variable_of(bit);
  const int64_t state = bits(variable) == 1 ? 1 : bit - first_bit(variable);
  return Name(variable) + " = " + (described() ? (*this)[variable].StateName(state) : std::to_string(state));
}

std::optional<int64_t> Variables::FindBroken(std::span<const uint8_t> row) const {
  return FindBrokenIn(*this, row);
}
std::optional<int64_t> Variables::FindBroken(std::span<const float> row) const {
  return FindBrokenIn(*this, row);
}
std::string Variables::DescribeBroken(std::span<const uint8_t> row, int64_t variable) const {
  return DescribeBrokenIn(*this, row, variable);
}
std::string Variables::DescribeBroken(std::span<const float> row, int64_t variable) const {
  return DescribeBrokenIn(*this, row, variable);
}

bool Variables::operator==(const Variables& other) const {
  if (dimension_ != other.dimension_ || described() != other.described()) return false;
  return !described() || layout_->list == other.layout_->list;
}

}  // namespace ort_ed
