#include "runtime/data/table/cell_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr double kDaySeconds = 86400;
constexpr double kLargestWhole = 0x1.0p53;  // beyond it doubles leave whole numbers out

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes digits off the front; nothing unless there are from `least` to `most` of them.
std::optional<int> TakeDigits(std::string_view& text, size_t least, size_t most) {
  size_t count = 0;
  int value = 0;
  while (count < most && count < text.size() && IsDigit(text[count]))
    value = 10 * value + (text[count++] - '0');
  if (count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> Days(int year, int month, int day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(sys_days(date).time_since_epoch().count());
}

// 2024-05-31 or 2024/05/31, or 31.05.2024.
std::optional<double> TakeDate(std::string_view& text) {
  const bool year_first = text.size() > 4 && (text[4] == '-' || text[4] == '/');
  const char separator = year_first ? text[4] : '.';
  const auto first = TakeDigits(text, year_first ? 4 : 1, year_first ? 4 : 2);
  if (!first || !Take(text, separator)) return std::nullopt;
  const auto month = TakeDigits(text, 1, 2);
  if (!month || !Take(text, separator)) return std::nullopt;
  const auto last = TakeDigits(text, year_first ? 1 : 4, year_first ? 2 : 4);
  if (!last) return std::nullopt;
  return year_first ? Days(*first, *month, *last) : Days(*last, *month, *first);
}

// +02:00, +0200, +02 or Z, in seconds.
std::optional<double> TakeZone(std::string_view& text) {
  if (text.empty() || Take(text, 'Z')) return 0;
  const double sign = text[0] == '-' ? -1 : 1;
  if (!Take(text, '+') && !Take(text, '-')) return std::nullopt;
  const auto hours = TakeDigits(text, 2, 2);
  Take(text, ':');
  const auto minutes = text.empty() ? std::optional(0) : TakeDigits(text, 2, 2);
  if (!hours || !minutes) return std::nullopt;
  return sign * (*hours * 3600.0 + *minutes * 60.0);
}

// 10:30, 10:30:59 or 10:30:59.25, with a zone or without; parts of seconds are left off.
std::optional<double> TakeClock(std::string_view& text) {
  const auto hours = TakeDigits(text, 1, 2);
  if (!hours || *hours > 23 || !Take(text, ':')) return std::nullopt;
  const auto minutes = TakeDigits(text, 2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  int seconds = 0;
  if (Take(text, ':')) {
    const auto given = TakeDigits(text, 2, 2);
    if (!given || *given > 60) return std::nullopt;
    seconds = *given;
    if (Take(text, '.') && !TakeDigits(text, 1, 9)) return std::nullopt;
  }
  Take(text, ' ');
  const auto zone = TakeZone(text);
  if (!zone) return std::nullopt;
  return *hours * 3600.0 + *minutes * 60.0 + seconds - *zone;
}

std::optional<CellValue> ReadDate(std::string_view cell) {
  const auto days = TakeDate(cell);
  if (!days) return std::nullopt;
  if (cell.empty()) return CellValue{CellValues::kDate, *days};
  if (!Take(cell, 'T') && !Take(cell, ' ')) return std::nullopt;
  const auto clock = TakeClock(cell);
  if (!clock || !cell.empty()) return std::nullopt;
  return CellValue{CellValues::kTime, *days * kDaySeconds + *clock};
}

bool HasLeadingZero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && IsDigit(digits[1]);
}

std::optional<CellValue> ReadNumberCell(std::string_view cell, bool decimal_comma) {
  std::string with_point;
  if (decimal_comma && std::ranges::count(cell, ',') == 1 && cell.find('.') == std::string_view::npos) {
    with_point = cell;
    std::ranges::replace(with_point, ',', '.');
    cell = with_point;
  }
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const std::string_view unsigned_part = cell.starts_with('-') ? cell.substr(1) : cell;
  if (unsigned_part.empty() || !(IsDigit(unsigned_part[0]) || unsigned_part[0] == '.')) return std::nullopt;
  if (HasLeadingZero(unsigned_part)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  const bool whole = std::ranges::all_of(unsigned_part, IsDigit) && std::abs(value) <= kLargestWhole;
  return CellValue{whole ? CellValues::kInteger : CellValues::kNumber, value + 0.0};
}

std::string FormatDate(double days) {
  using namespace std::chrono;
  const year_month_day date{sys_days(std::chrono::days(static_cast<int64_t>(std::floor(days))))};
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

std::string FormatTime(double seconds) {
  const double days = std::floor(seconds / kDaySeconds);
  const int rest = static_cast<int>(seconds - days * kDaySeconds);
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "T%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
  return FormatDate(days) + text.data();
}

std::string FormatNumber(double number, double low, double high) {
  constexpr int kDigits = 6;
  std::array<char, 32> text;
  char* const end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, kDigits).ptr;
  const std::string rounded(text.data(), end);
  const auto read_back = ParseNumber(rounded);
  return read_back && *read_back >= low && *read_back < high ? rounded : Decimal(number);
}

}  // namespace

bool IsMissingCell(std::string_view cell) {
  constexpr std::string_view kMarks[] = {"",    "?",   "NA",   "na",   "N/A",  "n/a",  "NaN",
                                         "nan", "NAN", "-nan", "null", "NULL", "Null", "#N/A"};
  return std::ranges::find(kMarks, cell) != std::end(kMarks);
}

CellValue ReadCellValue(std::string_view cell, bool decimal_comma) {
  if (const auto number = ReadNumberCell(cell, decimal_comma)) return *number;
  if (const auto date = ReadDate(cell)) return *date;
  return {};
}

std::optional<double> ReadAs(std::string_view cell, CellValues type, bool decimal_comma) {
  const CellValue value = ReadCellValue(cell, decimal_comma);
  if (value.type == type) return value.number;
  if (type == CellValues::kNumber && value.type == CellValues::kInteger) return value.number;
  if (type == CellValues::kInteger && value.type == CellValues::kNumber) return value.number;
  if (type == CellValues::kTime && value.type == CellValues::kDate) return value.number * kDaySeconds;
  if (type == CellValues::kDate && value.type == CellValues::kTime)
    return std::floor(value.number / kDaySeconds);
  return std::nullopt;
}

std::string FormatAs(double number, CellValues type, double low, double high) {
  switch (type) {
    case CellValues::kDate:
      return FormatDate(number);
    case CellValues::kTime:
      return FormatTime(number);
    case CellValues::kInteger:
      if (std::abs(number) <= kLargestWhole) return std::to_string(static_cast<int64_t>(number));
      break;
    case CellValues::kNumber:
    case CellValues::kText:
      break;
  }
  return FormatNumber(number, low, high);
}

CellValues WidestType(CellValues a, CellValues b) {
  using enum CellValues;
  if (a == b) return a;
  const auto are = [&](CellValues x, CellValues y) { return (a == x && b == y) || (a == y && b == x); };
  if (are(kInteger, kNumber)) return kNumber;
  if (are(kDate, kTime)) return kTime;
  return kText;
}

}  // namespace ort_ed
