#include "runtime/data/table/cell_format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace ort_ed {
namespace {

constexpr double kDaySeconds = 86400;
constexpr std::string_view kThousands = "###";

std::string Padded(int value, size_t digits) {
  std::string text = std::to_string(value);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

// AM or another of its spellings where the format goes on with it; else nothing.
std::string_view HalfAtFront(std::string_view format) {
  for (const auto& [morning, evening] : kHalvesOfDay)
    if (format.starts_with(morning)) return morning;
  return {};
}

bool HasHalves(std::string_view format) {
  return std::ranges::any_of(
      kHalvesOfDay, [&](const auto& half) { return format.find(half.first) != std::string_view::npos; });
}

std::string_view EveningOf(std::string_view morning) {
  return std::ranges::find(kHalvesOfDay, morning, &std::pair<std::string_view, std::string_view>::first)
      ->second;
}

}  // namespace

NumberFormat ParseNumberFormat(std::string_view format) {
  NumberFormat parsed;
  const size_t first = format.find('#');
  if (first == std::string_view::npos) return parsed;
  parsed.before = format.substr(0, first);
  std::string_view rest = format.substr(first + 1);
  if (rest.size() > kThousands.size() && rest.substr(1).starts_with(kThousands)) {
    parsed.thousands = rest[0];
    rest.remove_prefix(1 + kThousands.size());
  }
  parsed.decimal_comma = parsed.thousands == '.' || rest.starts_with(",0") || rest.starts_with(",#");
  if (rest.starts_with(",#")) rest.remove_prefix(2);
  if (rest.starts_with(".0") || rest.starts_with(",0")) {
    rest.remove_prefix(1);
    const size_t zeros = std::min(rest.find_first_not_of('0'), rest.size());
    parsed.decimals = static_cast<int>(zeros);
    rest.remove_prefix(zeros);
  }
  parsed.after = rest;
  return parsed;
}

std::string ToText(const NumberFormat& format) {
  std::string text = format.before + "#";
  if (format.thousands != 0) text += format.thousands + std::string(kThousands);
  if (format.decimals > 0)
    text += (format.decimal_comma ? "," : ".") + std::string(static_cast<size_t>(format.decimals), '0');
  if (format.decimals <= 0 && format.decimal_comma && format.thousands != '.') text += ",#";
  return text + format.after;
}

std::string WriteLike(const std::string& number, const NumberFormat& format) {
  std::string digits = number;
  const bool minus = digits.starts_with('-');
  if (minus) digits.erase(0, 1);
  const bool plain = digits.find_first_not_of("0123456789.") == std::string::npos;  // no 1e+20
  const size_t point = std::min(digits.find('.'), digits.size());
  if (format.decimal_comma && point < digits.size()) digits[point] = ',';
  if (format.thousands != 0 && plain)
    for (size_t at = point; at > 3; at -= 3) digits.insert(at - 3, 1, format.thousands);
  return (minus ? "-" : "") + format.before + digits + format.after;
}

std::string WriteTimeLike(double seconds, std::string_view format) {
  using namespace std::chrono;
  const double days = std::floor(seconds / kDaySeconds);
  const year_month_day date{sys_days(std::chrono::days(static_cast<int64_t>(days)))};
  const int rest = static_cast<int>(seconds - days * kDaySeconds);
  const int hour = rest / 3600, shown_hour = HasHalves(format) ? (hour + 11) % 12 + 1 : hour;
  const std::pair<std::string_view, int> parts[] = {
      {"YYYY", static_cast<int>(date.year())},
      {"MM", static_cast<int>(static_cast<unsigned>(date.month()))},
      {"DD", static_cast<int>(static_cast<unsigned>(date.day()))},
      {"M", static_cast<int>(static_cast<unsigned>(date.month()))},
      {"D", static_cast<int>(static_cast<unsigned>(date.day()))},
      {"hh", shown_hour},
      {"h", shown_hour},
      {"mm", rest / 60 % 60},
      {"ss", rest % 60},
  };
  std::string text;
  while (!format.empty()) {
    if (const std::string_view half = HalfAtFront(format); !half.empty()) {
      text += hour < 12 ? half : EveningOf(half);
      format.remove_prefix(half.size());
      continue;
    }
    const auto part =
        std::ranges::find_if(parts, [&](const auto& each) { return format.starts_with(each.first); });
    if (part == std::end(parts)) {
      text += format[0];
      format.remove_prefix(1);
    } else {
      text += Padded(part->second, part->first.size());
      format.remove_prefix(part->first.size());
    }
  }
  return text;
}

bool IsInMinutes(std::string_view format) {
  return format.find("mm") != std::string_view::npos && format.find("ss") == std::string_view::npos;
}

bool IsMonthFirst(std::string_view format) {
  const size_t month = format.find('M'), day = format.find('D');
  return month != std::string_view::npos && day != std::string_view::npos && month < day &&
         !format.starts_with('Y');
}

}  // namespace ort_ed
