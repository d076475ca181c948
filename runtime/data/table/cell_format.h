#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace ort_ed {

// How the cells of a column are written where that is not 1234.5, 2024-05-31, 2024-05-31T10:30:59 or
// 10:30:59. As a text, which is part of a variable:
//   "$#,###.00", "# EUR", "#%", "#.00"    numbers: what stands around them, between thousands, and their
//   decimals;
//                                 "#,#" and "#,00" have a comma in front of those
//   "MM/DD/YYYY", "D.M.YYYY hh:mm", "h:mm AM"    dates and times; a single letter is not filled up with 0,
//   and
//                                 AM, am or a.m. stand for both halves of the day
struct NumberFormat {
  std::string before = {}, after = {};
  char thousands = 0;  // 0: not separated
  bool decimal_comma = false;
  int decimals = -1;  // -1: as many as there are

  bool is_plain() const {
    return before.empty() && after.empty() && thousands == 0 && !decimal_comma && decimals < 0;
  }
};
NumberFormat ParseNumberFormat(std::string_view format);
std::string ToText(const NumberFormat& format);

// A number that is written with a point, 1234.5, in that format.
std::string WriteLike(const std::string& number, const NumberFormat& format);

// How the morning and the evening are called.
inline constexpr std::pair<std::string_view, std::string_view> kHalvesOfDay[] = {
    {"AM", "PM"}, {"am", "pm"}, {"a.m.", "p.m."}};

// Days and seconds since 1970 by the letters of the format: YYYY, MM, M, DD, D, hh, h, mm, ss, AM.
std::string WriteTimeLike(double seconds, std::string_view format);

// Whether times of this format leave the seconds out.
bool IsInMinutes(std::string_view format);

// Whether dates of this format have the month in front of the day.
bool IsMonthFirst(std::string_view format);

}  // namespace ort_ed
