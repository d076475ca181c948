#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ort_ed/variables.h"

namespace ort_ed {

// Whether a cell of a table says that nothing is known: empty, NA, N/A, NaN, null, ?.
bool IsMissingCell(std::string_view cell);

// What a cell holds: the narrowest of the types that read it, and the number that stands for it. Digits that
// begin with a zero (postcodes, telephone numbers) are text.
struct CellValue {
  CellValues type = CellValues::kText;
  double number = 0;  // days of a date, seconds of a time, since 1970
};
// `decimal_comma`: 1,5 is a number, as tables that are separated by semicolons have it.
CellValue ReadCellValue(std::string_view cell, bool decimal_comma = false);

// The number of a cell that is read as `type`; nothing where it cannot be. Whole numbers are numbers, and
// dates are times.
std::optional<double> ReadAs(std::string_view cell, CellValues type, bool decimal_comma = false);

// A number, date or time as ReadAs() reads it back. Numbers have 6 digits unless they need more to be told
// from `low` and `high`, between which they lie.
std::string FormatAs(double number, CellValues type, double low, double high);

// The type that reads the cells of both; text where there is none.
CellValues WidestType(CellValues a, CellValues b);

}  // namespace ort_ed
