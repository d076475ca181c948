#include "runtime/support/encoding/json_reader.h"

#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

namespace ort_ed {
namespace {

void AppendUtf8(uint32_t code, std::string& to) {
  const auto append = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xC0 | code >> 6);
    append(0x80 | (code & 63));
  } else if (code < 0x10000) {
    append(0xE0 | code >> 12);
    append(0x80 | (code >> 6 & 63));
    append(0x80 | (code & 63));
  } else {
    append(0xF0 | code >> 18);
    append(0x80 | (code >> 12 & 63));
    append(0x80 | (code >> 6 & 63));
    append(0x80 | (code & 63));
  }
}

}  // namespace

void JsonReader::Fail(const std::string& what) const {
  throw std::invalid_argument("byte " + std::to_string(at_ + 1) + ": " + what);
}

void JsonReader::SkipBlanks() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

bool JsonReader::Skip(char c) {
  SkipBlanks();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonReader::Expect(char c) {
  if (!Skip(c)) Fail(std::string("'") + c + "' is expected");
}

void JsonReader::ReadArray(const std::function<void()>& element) {
  Expect('[');
  if (Skip(']')) return;
  do element();
  while (Skip(','));
  Expect(']');
}

void JsonReader::ReadObject(const std::function<void(const std::string& name)>& member) {
  std::set<std::string> names;
  Expect('{');
  if (Skip('}')) return;
  do {
    const std::string name = ReadString();
    if (!names.insert(name).second) Fail("'" + name + "' occurs twice");
    Expect(':');
    member(name);
  } while (Skip(','));
  Expect('}');
}

std::string JsonReader::ReadString() {
  Expect('"');
  std::string value;
  for (;; ++at_) {
    if (at_ == text_.size()) Fail("the text ends within quotes");
    const char c = text_[at_];
    if (c == '"') break;
    if (static_cast<unsigned char>(c) < 0x20) Fail("a control character stands within quotes");
    if (c == '\\') {
      AppendEscape(value);
    } else {
      value += c;
    }
  }
  ++at_;
  return value;
}

// Ends at the last character of the escape.
void JsonReader::AppendEscape(std::string& to) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  ++at_;
  const char letter = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t known = kLetters.find(letter); letter != '\0' && known != std::string_view::npos) {
    to += kMeanings[known];
    return;
  }
  if (letter != 'u') Fail("an unknown escape follows '\\'");
  uint32_t code = ReadHex();
  if (code >= 0xDC00 && code < 0xE000) Fail("half a character is escaped");
  if (code >= 0xD800 && code < 0xDC00) {
    if (!text_.substr(at_ + 1).starts_with("\\u")) Fail("half a character is escaped");
    at_ += 2;
    const uint32_t low = ReadHex();
    if (low < 0xDC00 || low >= 0xE000) Fail("half a character is escaped");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  AppendUtf8(code, to);
}

uint32_t JsonReader::ReadHex() {
  constexpr size_t kDigits = 4;
  const std::string_view digits = text_.substr(at_ + 1, kDigits);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + kDigits) Fail("four hexadecimal digits are expected");
  at_ += kDigits;
  return code;
}

double JsonReader::ReadNumber() {
  SkipBlanks();
  double value = 0;
  const char* const start = text_.data() + at_;
  const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), value);
  if (error != std::errc() || !std::isfinite(value)) Fail("a finite number is expected");
  at_ += static_cast<size_t>(end - start);
  return value;
}

bool JsonReader::ReadBool() {
  SkipBlanks();
  for (const std::string_view word : {"true", "false"}) {
    if (!text_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return word == "true";
  }
  Fail("true or false is expected");
}

void JsonReader::ReadEnd() {
  SkipBlanks();
  if (at_ != text_.size()) Fail("the text should end here");
}

}  // namespace ort_ed
