#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ort_ed/random.h"
#include "ort_ed/variables.h"

namespace ort_ed {

// What is written, and read, for the state of all values that have none of their own.
inline constexpr char kOtherLabel[] = "(other)";

// Whether a cell has a state of its own, that of all others, or that of the nearest number.
enum class CellFit { kOwn, kOther, kNearest };

// From the cells of a column to the states of its variable. A number that no label names has the state of
// other values or, without one, the nearest.
class VariableEncoder {
 public:
  VariableEncoder(const Variable& variable, bool decimal_comma);

  // The state; nothing for a missing cell of a variable without such a state. Throws std::invalid_argument
  // with the reason: "is 'x', which is none of ...". `fit`, which may be null, is told how the cell fits.
  std::optional<int64_t> Encode(const std::string& cell, CellFit* fit = nullptr) const;

 private:
  std::optional<int64_t> Find(const std::string& cell, CellFit& fit) const;
  int64_t EncodeOther(const std::string& cell, CellFit& fit) const;
  int64_t NearestLabel(double number, const std::string& cell, CellFit& fit) const;

  const Variable variable_;
  bool decimal_comma_;
  std::unordered_map<std::string, int64_t> by_label_;
  std::unordered_map<std::string, int64_t> by_word_;   // in lower case, of labels that are no and yes
  std::vector<std::pair<double, int64_t>> by_number_;  // ascending; of labels that are numbers
};

// Whether these are no and yes, or false and true, in whatever case: TRUE and true are the same.
bool IsNoOrYes(const std::vector<std::string>& words);

// For people: as Variable::StateName(), with the bounds of bins as the column is written.
std::string DescribeState(const Variable& variable, int64_t state);
// The values from `low` up to, without, `high`: "40 to 44", "41.73 to 44.94"; "[1.5, 2)" where it is not
// known which is the last one.
std::string DescribeRange(const Variable& variable, double low, double high);

// The cell that stands for a state: its label or, of a bin, a value that is drawn evenly from it; whole
// numbers stay whole. A missing one is `missing`.
std::string DecodeState(const Variable& variable, int64_t state, RandomStream& random,
                        const std::string& missing = "");

}  // namespace ort_ed
