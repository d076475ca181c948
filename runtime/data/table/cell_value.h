#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ort_ed/variables.h"

namespace ort_ed {

// Whether a cell of a table says that nothing is known: empty, NA, N/A, NaN, null, ?.
bool IsMissingCell(std::string_view cell);

// What a cell tells of how its column is written.
struct CellForm {
  std::string before = {}, after = {};  // of a number: "$", " EUR", "%"
  char thousands = 0;                   // between them
  int decimals = 0;
  char decimal = 0;  // in front of its decimals
  // 1,234 and 1.234 are 1234 or 1.234: what stands between the digits, and the number that was not taken.
  char unclear = 0;
  double otherwise = 0;
  char separator = 0;  // of a date
  bool year_first = false;
  bool filled_up = true;         // 03, not 3
  bool hours_filled_up = true;   // 09:30, not 9:30
  bool letter = false;           // 2024-05-31T10:30, not a blank
  bool seconds = false;          // 10:30:59, not 10:30
  std::string half_of_day = {};  // " AM" of 2:05 PM as well: as it stands behind the minutes
  bool zone = false;             // 10:30+02:00 or 10:30Z, which is a time of UTC
  // 03/04/2024: a date with the year behind, both ways, where that is one.
  std::optional<double> day_first = {}, month_first = {};
};

// What a cell holds: the narrowest of the types that read it, and the number that stands for it. Digits that
// begin with a zero (postcodes, telephone numbers) are text.
struct CellValue {
  CellValues type = CellValues::kText;
  double number = 0;  // days of a date, seconds of a time, since 1970; seconds of a clock since midnight
  CellForm form = {};
};
// `decimal_comma`: 1,234 is 1.234, as tables that are separated by semicolons have it; elsewhere it is 1234.
// Of a date that may be either, month/day/year or day-month-year are taken.
CellValue ReadCellValue(std::string_view cell, bool decimal_comma = false);

// The number of a cell that is read as `type`; nothing where it cannot be. Whole numbers are numbers, and
// dates are times. `format`: of the column (cell_format.h); its unit may be left out.
std::optional<double> ReadAs(std::string_view cell, CellValues type, bool decimal_comma = false,
                             std::string_view format = "");

// A number, date or time as ReadAs() reads it back. Numbers have 6 digits unless they need more to be told
// from `low` and `high`, between which they lie, or the format has decimals.
std::string FormatAs(double number, CellValues type, double low, double high, std::string_view format = "");

// Whether cells of this type that are written in this format can be read back.
bool IsFormatOf(std::string_view format, CellValues type);

// The type that reads the cells of both; text where there is none.
CellValues WidestType(CellValues a, CellValues b);

}  // namespace ort_ed
