#include "runtime/data/table/cell_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "runtime/data/table/cell_format.h"
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

// Takes a part of a date; one digit is noted.
std::optional<int> TakePart(std::string_view& text, CellForm& form) {
  const size_t before = text.size();
  const auto part = TakeDigits(text, 1, 2);
  if (part && before - text.size() == 1) form.filled_up = false;
  return part;
}

// 2024-05-31 or 2024/05/31; 31.05.2024, 31/05/2024, 31-05-2024, or with the month in front.
std::optional<double> TakeDate(std::string_view& text, CellForm& form) {
  form.year_first = text.size() > 4 && (text[4] == '-' || text[4] == '/') &&
                    std::ranges::all_of(text.substr(0, 4), IsDigit);  // 27/3/2024 has a slash there, too
  const auto year_in_front = form.year_first ? TakeDigits(text, 4, 4) : std::nullopt;
  if (form.year_first && (!year_in_front || !Take(text, form.separator = text[0]))) return std::nullopt;
  const auto first = TakePart(text, form);
  if (!first || text.empty()) return std::nullopt;
  if (!form.year_first) form.separator = text[0];
  if (std::string_view("./-").find(form.separator) == std::string_view::npos || !Take(text, form.separator))
    return std::nullopt;
  const auto second = TakePart(text, form);
  if (!second) return std::nullopt;
  if (form.year_first) return Days(*year_in_front, *first, *second);
  if (!Take(text, form.separator)) return std::nullopt;
  const auto year = TakeDigits(text, 4, 4);
  if (!year) return std::nullopt;
  const auto day_first = Days(*year, *second, *first), month_first = Days(*year, *first, *second);
  if (form.separator == '.') return day_first;
  form.day_first = day_first;
  form.month_first = month_first;
  const bool month = form.separator == '/' ? month_first.has_value() : !day_first.has_value();
  return month ? month_first : day_first;
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

// Some programs put wider ones in front of PM.
bool TakeBlank(std::string_view& text) {
  for (const std::string_view blank : {" ", "\xc2\xa0", "\xe2\x80\xaf"})
    if (text.starts_with(blank)) {
      text.remove_prefix(blank.size());
      return true;
    }
  return false;
}

// Takes AM or PM and makes the hours, 1 to 12, those of the day. False: there is no such hour.
bool TakeHalfOfDay(std::string_view& text, bool blank, int& hours, CellForm& form) {
  for (const auto& [morning, evening] : kHalvesOfDay) {
    const bool late = text.starts_with(evening);
    if (!late && !text.starts_with(morning)) continue;
    text.remove_prefix(morning.size());
    form.half_of_day = (blank ? " " : "") + std::string(morning);
    if (hours < 1 || hours > 12) return false;
    hours = hours % 12 + (late ? 12 : 0);
    return true;
  }
  return true;
}

// 10:30, 10:30:59 or 10:30:59.25, also with AM or PM, with a zone or without; parts of seconds are left off.
std::optional<double> TakeClock(std::string_view& text, CellForm& form) {
  if (text.size() > 1 && text[1] == ':') form.hours_filled_up = false;
  auto hours = TakeDigits(text, 1, 2);
  if (!hours || *hours > 23 || !Take(text, ':')) return std::nullopt;
  const auto minutes = TakeDigits(text, 2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  int seconds = 0;
  if (Take(text, ':')) {
    const auto given = TakeDigits(text, 2, 2);
    if (!given || *given > 60) return std::nullopt;
    seconds = *given;
    form.seconds = true;
    if (Take(text, '.') && !TakeDigits(text, 1, 9)) return std::nullopt;
  }
  const bool blank = TakeBlank(text);
  if (!TakeHalfOfDay(text, blank, *hours, form)) return std::nullopt;
  form.zone = !text.empty();
  const auto zone = TakeZone(text);
  if (!zone) return std::nullopt;
  return *hours * 3600.0 + *minutes * 60.0 + seconds - *zone;
}

std::optional<CellValue> ReadDate(std::string_view cell) {
  CellValue value{CellValues::kDate, 0};
  const auto days = TakeDate(cell, value.form);
  if (!days) return std::nullopt;
  value.number = *days;
  if (cell.empty()) return value;
  value.form.letter = cell[0] == 'T';
  if (!Take(cell, 'T') && !Take(cell, ' ')) return std::nullopt;
  const auto clock = TakeClock(cell, value.form);
  if (!clock || !cell.empty()) return std::nullopt;
  value.type = CellValues::kTime;
  for (std::optional<double>* date : {&value.form.day_first, &value.form.month_first})
    if (*date) **date = **date * kDaySeconds + *clock;
  value.number = *days * kDaySeconds + *clock;
  return value;
}

// A time of the day, without a zone.
std::optional<CellValue> ReadClock(std::string_view cell) {
  CellValue value{CellValues::kClock, 0};
  const auto clock = TakeClock(cell, value.form);
  if (!clock || !cell.empty() || value.form.zone) return std::nullopt;
  value.number = *clock;
  return value;
}

bool HasLeadingZero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && IsDigit(digits[1]);
}

// Three digits behind a single mark, as in 1,234 and -1.234: thousands, or decimals. 0,123 are decimals.
bool MayBeThousands(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  constexpr size_t kBehind = 3;
  if (number.size() < kBehind + 2 || number.size() > kBehind + 4 || number[0] == '0') return false;
  const size_t mark = number.size() - kBehind - 1;
  const std::string_view whole = number.substr(0, mark), part = number.substr(mark + 1);
  return (number[mark] == ',' || number[mark] == '.') && std::ranges::all_of(whole, IsDigit) &&
         std::ranges::all_of(part, IsDigit);
}

// What stands behind the comma of a number can be nothing else, whatever the table.
bool HasDecimals(std::string_view number) { return !MayBeThousands(number) && !number.starts_with(','); }

std::optional<CellValue> ReadPlainNumber(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const std::string_view unsigned_part = cell.starts_with('-') ? cell.substr(1) : cell;
  if (unsigned_part.empty() || !(IsDigit(unsigned_part[0]) || unsigned_part[0] == '.')) return std::nullopt;
  if (HasLeadingZero(unsigned_part)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  const bool whole = std::ranges::all_of(unsigned_part, IsDigit) && std::abs(value) <= kLargestWhole;
  CellValue read{whole ? CellValues::kInteger : CellValues::kNumber, value + 0.0};
  if (cell.find('.') != std::string_view::npos) read.form.decimal = '.';
  return read;
}

constexpr std::string_view kUnits[] = {"US$", "$",   "€",   "£",   "¥",   "USD", "EUR", "GBP", "JPY", "CHF",
                                       "CNY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
                                       "BRL", "KRW", "TRY", "MXN", "ZAR", "NZD", "SGD", "HKD"};

// Blanks that programs put between thousands and in front of units.
std::string WithPlainBlanks(std::string_view text) {
  std::string plain(text);
  for (const std::string_view blank : {"\xc2\xa0", "\xe2\x80\xaf"})
    for (size_t at; (at = plain.find(blank)) != std::string::npos;) plain.replace(at, blank.size(), " ");
  return plain;
}

void TakeUnit(std::string_view& text, CellForm& form) {
  const auto take_blank = [](std::string_view& rest, bool front) -> std::string {
    const bool blank = front ? rest.starts_with(' ') : rest.ends_with(' ');
    if (blank) front ? rest.remove_prefix(1) : rest.remove_suffix(1);
    return blank ? " " : "";
  };
  for (const std::string_view unit : kUnits) {
    if (text.starts_with(unit)) {
      text.remove_prefix(unit.size());
      form.before = std::string(unit) + take_blank(text, true);
      return;
    }
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      form.after = take_blank(text, false) + std::string(unit);
      return;
    }
  }
  if (!text.ends_with('%')) return;
  text.remove_suffix(1);
  form.after = take_blank(text, false) + "%";
}

// 1,234.56 as 1234.56; nothing where the groups are none.
std::optional<std::string> JoinThousands(std::string_view text, bool decimal_comma, CellForm& form) {
  const bool unit = !form.before.empty() || !form.after.empty();
  const auto commas = std::ranges::count(text, ','), points = std::ranges::count(text, '.');
  char decimal = decimal_comma ? ',' : '.';
  if (commas > 0 && points > 0) decimal = text.rfind(',') > text.rfind('.') ? ',' : '.';
  if (commas == 0 && points == 1) decimal = '.';
  if (commas == 1 && points == 0 && HasDecimals(text)) decimal = ',';
  if (commas > 1 && points == 0) decimal = '.';
  const size_t point = std::ranges::count(text, decimal) == 1 ? text.find(decimal) : std::string_view::npos;
  std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (point != std::string_view::npos && (part.empty() || !std::ranges::all_of(part, IsDigit)))
    return std::nullopt;
  const auto at = std::ranges::find_if_not(whole, IsDigit);
  form.thousands = at == whole.end() ? '\0' : *at;
  // 192.168.100.200 is an address, and 555 123 may be anything; 1 234,50 and 1'234.50 are numbers.
  const bool clear = form.thousands == ',' || form.thousands == '\0' || unit ||
                     (form.thousands == '.' && decimal_comma) || point != std::string_view::npos;
  if (!clear ||
      std::string_view(std::string_view("\0,. '", 5)).find(form.thousands) == std::string_view::npos ||
      form.thousands == decimal)
    return std::nullopt;
  std::string joined;
  for (bool first = true; !whole.empty(); first = false) {
    const size_t end =
        form.thousands == '\0' ? whole.size() : std::min(whole.find(form.thousands), whole.size());
    const std::string_view group = whole.substr(0, end);
    const bool good = std::ranges::all_of(group, IsDigit) &&
                      (form.thousands == '\0' || (first ? end >= 1 && end <= 3 && group != "0" : end == 3));
    if (!good) return std::nullopt;
    joined += group;
    if (end + 1 == whole.size()) return std::nullopt;  // nothing behind the last separator
    whole.remove_prefix(std::min(end + 1, whole.size()));
  }
  form.decimals = static_cast<int>(part.size());
  if (!part.empty()) form.decimal = decimal;
  return part.empty() ? joined : joined + "." + std::string(part);
}

// $1,200.50, 45 %, 1 200 EUR, 1,234.
std::optional<CellValue> ReadWrittenNumber(std::string_view cell, bool decimal_comma) {
  if (std::ranges::none_of(cell, IsDigit)) return std::nullopt;
  const std::string blanks = WithPlainBlanks(cell);
  std::string_view rest = blanks;
  CellForm form;
  bool minus = Take(rest, '-');
  TakeUnit(rest, form);
  if (!minus && !form.before.empty()) minus = Take(rest, '-');
  const auto joined = JoinThousands(rest, decimal_comma, form);
  auto value = joined ? ReadPlainNumber(*joined) : std::nullopt;
  if (!value) return std::nullopt;
  if (minus) value->number = 0.0 - value->number;
  value->form = std::move(form);
  return value;
}

// 1,5: a number with a decimal comma, and nothing else.
std::optional<CellValue> ReadDecimalComma(std::string_view cell) {
  if (std::ranges::count(cell, ',') != 1 || cell.find('.') != std::string_view::npos) return std::nullopt;
  std::string with_point(cell);
  std::ranges::replace(with_point, ',', '.');
  auto value = ReadPlainNumber(with_point);
  if (value) value->form.decimal = ',';
  return value;
}

void NoteOtherReading(std::string_view cell, CellValue& value) {
  const size_t first = cell.find_first_of("0123456789"), last = cell.find_last_of("0123456789");
  const std::string_view number = cell.substr(first, last - first + 1);
  if (!MayBeThousands(number)) return;
  value.form.unclear = number[number.size() - 4];
  const bool thousands = value.form.thousands != 0;
  value.form.otherwise = thousands ? value.number / 1000 : std::round(value.number * 1000);
}

std::optional<CellValue> ReadNumberCell(std::string_view cell, bool decimal_comma) {
  auto value = ReadPlainNumber(cell);
  if (!value && (decimal_comma || HasDecimals(cell))) value = ReadDecimalComma(cell);
  if (!value) value = ReadWrittenNumber(cell, decimal_comma);
  if (value) NoteOtherReading(cell, *value);
  return value;
}

std::string FormatNumber(double number, double low, double high, int decimals) {
  constexpr int kDigits = 6;
  std::array<char, 64> text;
  const auto rounded_to = [&](std::chars_format how, int digits) {
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, how, digits);
    return error == std::errc() ? std::string(text.data(), end) : std::string();
  };
  const auto fits = [&](const std::string& rounded) {
    const auto read_back = ParseNumber(rounded);
    return read_back && *read_back >= low && *read_back < high;
  };
  if (decimals >= 0)
    if (const std::string fixed = rounded_to(std::chars_format::fixed, decimals); fits(fixed)) return fixed;
  const std::string rounded = rounded_to(std::chars_format::general, kDigits);
  return fits(rounded) ? rounded : Decimal(number);
}

// Whether the unit of a cell is that of the column, or left out.
bool HasUnitOf(const CellForm& form, const NumberFormat& known) {
  const auto bare = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  if (form.before.empty() && form.after.empty()) return true;
  return bare(form.before) == bare(known.before) && bare(form.after) == bare(known.after);
}

}  // namespace

bool IsMissingCell(std::string_view cell) {
  constexpr std::string_view kMarks[] = {"",    "?",   "NA",   "na",   "N/A",  "n/a",  "NaN",
                                         "nan", "NAN", "-nan", "null", "NULL", "Null", "#N/A"};
  return std::ranges::find(kMarks, cell) != std::end(kMarks);
}

CellValue ReadCellValue(std::string_view cell, bool decimal_comma) {
  if (auto number = ReadNumberCell(cell, decimal_comma)) return *std::move(number);
  if (auto date = ReadDate(cell)) return *std::move(date);
  if (auto clock = ReadClock(cell)) return *std::move(clock);
  return {};
}

std::optional<double> ReadAs(std::string_view cell, CellValues type, bool decimal_comma,
                             std::string_view format) {
  const NumberFormat known = ParseNumberFormat(format);
  CellValue value = ReadCellValue(cell, known.decimal_comma || (decimal_comma && known.thousands != ','));
  if (value.form.unclear == '.' && (known.thousands == '.' || (known.decimal_comma && decimal_comma)))
    value.number = value.form.otherwise;
  if (value.form.day_first || value.form.month_first) {
    const bool month_first = format.empty() ? value.form.separator == '/' : IsMonthFirst(format);
    const auto date = month_first ? value.form.month_first : value.form.day_first;
    if (!date) return std::nullopt;
    value.number = *date;
  }
  if (!HasUnitOf(value.form, known)) return std::nullopt;
  if (value.type == type) return value.number;
  if (type == CellValues::kNumber && value.type == CellValues::kInteger) return value.number;
  if (type == CellValues::kInteger && value.type == CellValues::kNumber) return value.number;
  if (type == CellValues::kTime && value.type == CellValues::kDate) return value.number * kDaySeconds;
  if (type == CellValues::kDate && value.type == CellValues::kTime)
    return std::floor(value.number / kDaySeconds);
  return std::nullopt;
}

std::string FormatAs(double number, CellValues type, double low, double high, std::string_view format) {
  switch (type) {
    case CellValues::kDate:
      return WriteTimeLike(number * kDaySeconds, format.empty() ? "YYYY-MM-DD" : format);
    case CellValues::kTime:
      return WriteTimeLike(number, format.empty() ? "YYYY-MM-DDThh:mm:ss" : format);
    case CellValues::kClock:
      return WriteTimeLike(number, format.empty() ? "hh:mm:ss" : format);
    case CellValues::kInteger:
      if (std::abs(number) <= kLargestWhole)
        return WriteLike(std::to_string(static_cast<int64_t>(number)), ParseNumberFormat(format));
      break;
    case CellValues::kNumber:
    case CellValues::kText:
      break;
  }
  const NumberFormat written = ParseNumberFormat(format);
  return WriteLike(FormatNumber(number, low, high, written.decimals), written);
}

bool IsFormatOf(std::string_view format, CellValues type) {
  using enum CellValues;
  const bool number = type == kInteger || type == kNumber;
  if (type == kText || (number && ToText(ParseNumberFormat(format)) != format)) return false;
  constexpr double kDay = 20084, kClockTime = 37800;  // 2024-12-27, 10:30
  const double value = type == kDate    ? kDay
                       : type == kTime  ? kDay * kDaySeconds + kClockTime
                       : type == kClock ? kClockTime
                                        : 1234567;
  return ReadAs(FormatAs(value, type, value, value + 1, format), type, false, format) == value;
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
