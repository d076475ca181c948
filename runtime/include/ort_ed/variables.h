#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ort_ed/export.h"

namespace ort_ed {

// How the states of a variable lie beside one another. A binary variable has two and takes one bit; the
// others have K states and take K bits, of which exactly one is set.
enum class VariableKind { kBinary, kNominal, kOrdered, kCyclic };

// What the cells of a table hold that the variable stands for.
enum class CellValues { kText, kInteger, kNumber, kDate, kTime, kClock };

// One variable over the bits of a row. Its states are, in this order: those that the labels or the edges
// tell, the state of all other values, the state of missing ones.
struct ORT_ED_API Variable {
  std::string name;
  VariableKind kind = VariableKind::kBinary;
  CellValues values = CellValues::kText;
  std::vector<std::string> labels = {};  // a binary variable may do without: 0 and 1
  // In place of labels: bin i holds edges[i] <= value < edges[i + 1], and what lies outside belongs to the
  // outermost. Dates are days, times are seconds since 1970, clock times seconds since midnight.
  std::vector<double> edges = {};
  bool other = false;
  bool missing = false;
  // How cells are written where it is not the usual way: "$#,###", "#%", "MM/DD/YYYY", "hh:mm".
  std::string format = {};

  int64_t states() const;
  int64_t bits() const { return kind == VariableKind::kBinary ? 1 : states(); }
  int64_t plain_states() const { return states() - (other ? 1 : 0) - (missing ? 1 : 0); }
  std::optional<int64_t> other_state() const;
  std::optional<int64_t> missing_state() const;
  // For people: the label, "[20, 30)", "(other)", "(missing)".
  std::string StateName(int64_t state) const;

  bool operator==(const Variable&) const = default;
};

// The variables over the D bits of a row, in order. A move to a neighbouring state is one bit: of a binary
// variable the bit that flips, of another the bit that becomes 1 in place of the one that is; so the D bits
// number all moves. Copies are cheap.
class ORT_ED_API Variables {
 public:
  static constexpr int64_t kMaxBits = int64_t{1} << 24;

  Variables() = default;
  // D binary variables that nothing is known of.
  static Variables Binary(int64_t dimension);
  // Throws kInvalidArgument, naming the variable, for a list that cannot be: names that are empty or occur
  // twice, fewer than two states, labels that occur twice, edges that do not rise, more than kMaxBits bits.
  explicit Variables(std::vector<Variable> list);

  int64_t size() const { return all_binary_ ? dimension_ : static_cast<int64_t>(layout_->first_bits.size()); }
  int64_t dimension() const { return dimension_; }  // bits of a row
  // One bit each: where everything that walks over variables may walk over bits.
  bool all_binary() const { return all_binary_; }
  bool described() const { return layout_ != nullptr; }  // whether there are names and labels
  // Of a list that is described.
  const Variable& operator[](int64_t variable) const { return layout_->list[static_cast<size_t>(variable)]; }
  std::optional<int64_t> Find(std::string_view name) const;

  int64_t first_bit(int64_t variable) const {
    return all_binary_ ? variable : layout_->first_bits[static_cast<size_t>(variable)];
  }
  int64_t bits(int64_t variable) const {
    return all_binary_ ? 1 : layout_->bits[static_cast<size_t>(variable)];
  }
  int64_t states(int64_t variable) const {
    const int64_t count = bits(variable);
    return count == 1 ? 2 : count;
  }
  int64_t variable_of(int64_t bit) const {
    return all_binary_ ? bit : layout_->variable_of[static_cast<size_t>(bit)];
  }
  int64_t most_states() const;
  // For people, numbers from 1: "age", "variable 3"; "age = [20, 30)", "variable 3 = 1".
  std::string Name(int64_t variable) const;
  std::string BitName(int64_t bit) const;

  // The state of a variable in a row of 0 and 1 that is in order.
  template <typename T>
  int64_t State(const T* row, int64_t variable) const {
    const T* own = row + first_bit(variable);
    const int64_t count = bits(variable);
    if (count == 1) return *own != T{0};
    int64_t state = 0;
    while (state + 1 < count && own[state] == T{0}) ++state;
    return state;
  }
  template <typename T>
  void SetState(T* row, int64_t variable, int64_t state) const {
    T* own = row + first_bit(variable);
    const int64_t count = bits(variable);
    if (count == 1) {
      *own = static_cast<T>(state);
      return;
    }
    for (int64_t k = 0; k < count; ++k) own[k] = T{0};
    own[state] = T{1};
  }
  // Makes the move of that number.
  template <typename T>
  void Move(T* row, int64_t bit) const {
    const int64_t variable = variable_of(bit), first = first_bit(variable);
    if (bits(variable) == 1) {
      row[bit] = static_cast<T>(T{1} - row[bit]);
    } else {
      SetState(row, variable, bit - first);
    }
  }

  // The first variable of a row of 0 and 1 that has not exactly one bit set; nothing where all is well.
  std::optional<int64_t> FindBroken(std::span<const uint8_t> row) const;
  std::optional<int64_t> FindBroken(std::span<const float> row) const;
  // "the 3 states of 'colour' (bits 5 to 7, from 1) have 2 ones; exactly one is needed".
  std::string DescribeBroken(std::span<const uint8_t> row, int64_t variable) const;
  std::string DescribeBroken(std::span<const float> row, int64_t variable) const;

  bool operator==(const Variables& other) const;

 private:
  struct Layout {
    std::vector<Variable> list;
    std::vector<int64_t> first_bits, bits;
    std::vector<int32_t> variable_of;  // each bit
  };

  int64_t dimension_ = 0;
  bool all_binary_ = true;
  std::shared_ptr<const Layout> layout_;  // null: not described
};

// The text of metadata and files, a JSON array with an object for each variable; what is not said is at its
// default, and a binary variable needs nothing but its name:
//
//   [{"name": "colour", "kind": "nominal", "labels": ["red", "blue"], "other": true},
//    {"name": "age", "kind": "ordered", "values": "integer", "edges": [17, 30, 45, 91], "missing": true},
//    {"name": "married"}]
//
// Throws kBadData saying what is wrong and where.
ORT_ED_API Variables ParseVariables(std::string_view text);
// Of a list that is described.
ORT_ED_API std::string FormatVariables(const Variables& variables);

// The words of the text: "ordered", "integer".
ORT_ED_API const char* ToText(VariableKind kind);
ORT_ED_API const char* ToText(CellValues values);
ORT_ED_API std::optional<VariableKind> ParseVariableKind(std::string_view text);
ORT_ED_API std::optional<CellValues> ParseCellValues(std::string_view text);

}  // namespace ort_ed
