#include "tools/jobs/settings/setting_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <spdlog/fmt/ranges.h>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

template <typename Number>
bool ParsesWhole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsBareKey(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

struct Interval {
  double low = 0;
  double high = 0;
  bool includes_low = false;
  bool includes_high = false;

  bool Contains(double value) const {
    return (includes_low ? value >= low : value > low) && (includes_high ? value <= high : value < high);
  }
};

double BoundOf(const std::string& text) {
  return text == "inf" ? std::numeric_limits<double>::infinity() : std::stod(text);
}

Interval ParseInterval(const std::string& text) {
  const size_t comma = text.find(", ");
  return {BoundOf(text.substr(1, comma - 1)), BoundOf(text.substr(comma + 2, text.size() - comma - 3)),
          text.front() == '[', text.back() == ']'};
}

void CheckNumber(double value, const std::string& domain) {
  if (!std::isfinite(value)) throw std::invalid_argument("a finite number is expected");
  if (!domain.empty() && !ParseInterval(domain).Contains(value))
    throw std::invalid_argument(fmt::format("must lie in {}", domain));
}

constexpr std::string_view kJoined = "[+...]";

struct DomainCheck {
  const std::string& domain;

  void operator()(const std::string& value) const {
    const bool joined = domain.ends_with(kJoined);
    const Words choices = SplitWords(joined ? domain.substr(0, domain.size() - kJoined.size()) : domain, '|');
    if (choices.size() < 2) return;
    const Words parts = joined ? SplitWords(value, '+') : Words{value};
    const auto is_choice = [&](const std::string& part) { return std::ranges::count(choices, part) > 0; };
    if (parts.empty() || !std::ranges::all_of(parts, is_choice))
      throw std::invalid_argument(fmt::format("must be one of {}{}", fmt::join(choices, ", "),
                                              joined ? ", or several joined by +" : ""));
  }
  void operator()(int64_t value) const { CheckNumber(static_cast<double>(value), domain); }
  void operator()(double value) const { CheckNumber(value, domain); }
  void operator()(bool) const {}
  void operator()(const Period& value) const {
    if (value.steps < 0 || !(value.seconds >= 0)) throw std::invalid_argument("must not be negative");
  }
  void operator()(const Words&) const {}
  void operator()(const Numbers& values) const {
    for (const double value : values) CheckNumber(value, domain);
  }
  void operator()(const Assignments&) const {}
};

}  // namespace

void ParseValue(const std::string& text, std::string& value) { value = text; }

void ParseValue(const std::string& text, int64_t& value) {
  if (!ParsesWhole(text, value)) throw std::invalid_argument("a whole number is expected");
}

void ParseValue(const std::string& text, double& value) {
  if (!ParsesWhole(text, value)) throw std::invalid_argument("a number is expected");
}

void ParseValue(const std::string& text, bool& value) {
  if (text != "true" && text != "false") throw std::invalid_argument("true or false is expected");
  value = text == "true";
}

void ParseValue(const std::string& text, Period& value) {
  constexpr double kNever = 0;
  const double unit = text.ends_with('s')   ? 1
                      : text.ends_with('m') ? 60
                      : text.ends_with('h') ? 3600
                                            : kNever;
  Period parsed;
  const bool valid = unit == kNever
                         ? ParsesWhole(text, parsed.steps)
                         : ParsesWhole(std::string_view(text).substr(0, text.size() - 1), parsed.seconds);
  if (!valid) throw std::invalid_argument("a number of steps (500) or a time (60s, 5m, 1h) is expected");
  parsed.seconds *= unit;
  value = parsed;
}

void ParseValue(const std::string& text, Words& value) { value = SplitWords(text, ','); }

void ParseValue(const std::string& text, Numbers& value) {
  Numbers parsed;
  for (const std::string& word : SplitWords(text, ',')) ParseValue(word, parsed.emplace_back());
  if (parsed.empty()) throw std::invalid_argument("a number is expected");
  value = std::move(parsed);
}

void ParseValue(const std::string& text, Assignments& value) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) throw std::invalid_argument("NAME=VALUE is expected");
  value[text.substr(0, equals)] = text.substr(equals + 1);
}

std::string ToTomlValue(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string ToTomlValue(int64_t value) { return fmt::format("{}", value); }
std::string ToTomlValue(double value) { return fmt::format("{}", value); }
std::string ToTomlValue(bool value) { return value ? "true" : "false"; }

std::string ToTomlValue(const Period& value) {
  return value.seconds > 0 ? fmt::format("\"{}s\"", value.seconds) : fmt::format("{}", value.steps);
}

std::string ToTomlValue(const Words& value) {
  Words quoted;
  for (const std::string& word : value) quoted.push_back(ToTomlValue(word));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string ToTomlValue(const Numbers& value) {
  return value.size() == 1 ? ToTomlValue(value.front()) : fmt::format("[{}]", fmt::join(value, ", "));
}

std::string ToTomlValue(const Assignments& value) {
  Words pairs;
  for (const auto& [name, text] : value)
    pairs.push_back(fmt::format("{} = {}", IsBareKey(name) ? name : ToTomlValue(name), ToTomlValue(text)));
  return pairs.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(pairs, ", "));
}

void CheckDomain(const TrainConfig& config, const Setting& setting) {
  std::visit([&](auto member) { DomainCheck{setting.domain}(config.*member); }, setting.member);
}

}  // namespace ort_ed
