#include "runtime/data/text_cells.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/support/limits.h"

namespace ort_ed {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view Unquoted(std::string_view cell) {
  const bool quoted = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
  return quoted ? Trim(cell.substr(1, cell.size() - 2)) : cell;
}

bool IsMissing(std::string_view cell) {
  constexpr std::string_view kMarks[] = {"", "?", "NA", "na", "N/A", "NaN", "nan", "NAN", "-nan"};
  return std::find(std::begin(kMarks), std::end(kMarks), cell) != std::end(kMarks);
}

}  // namespace

TextLines::TextLines(InputStream stream) : stream_(std::move(stream)) {
  if (stream_.Peek(kByteOrderMark.size()).starts_with(kByteOrderMark)) stream_.Skip(kByteOrderMark.size());
}

std::optional<std::string_view> TextLines::Current() {
  while (line_bytes_ == 0) {
    if (!Load()) return std::nullopt;
    const std::string_view line = stream_.Peek(line_bytes_).substr(0, text_bytes_);
    if (line.starts_with('#') || line.find_first_not_of(' ') == std::string_view::npos) Advance();
  }
  return stream_.Peek(line_bytes_).substr(0, text_bytes_);
}

bool TextLines::Load() {
  std::string_view text = stream_.Peek(1);
  if (text.empty()) return false;
  ++number_;
  size_t end = text.find('\n');
  while (end == std::string_view::npos) {
    const size_t known = text.size();
    if (known > kMaxLineBytes)
      stream_.Fail("line " + std::to_string(number_) + " is longer than the " +
                   std::to_string(kMaxLineBytes) + " bytes that a row may have; is this a text file?");
    text = stream_.Peek(known + 1);
    if (text.size() == known) break;
    end = text.find('\n', known);
  }
  line_bytes_ = end == std::string_view::npos ? text.size() : end + 1;
  text_bytes_ = std::min(end, text.size());
  if (text_bytes_ > 0 && text[text_bytes_ - 1] == '\r') --text_bytes_;
  return true;
}

bool TextLines::MustWait() const {
  return line_bytes_ == 0 && stream_.Buffered().find('\n') == std::string_view::npos && !stream_.ready();
}

void TextLines::Advance() { stream_.Skip(std::exchange(line_bytes_, 0)); }

std::string_view TextLines::Sample(size_t size) { return stream_.Peek(size).substr(0, size); }

CellSplitter::CellSplitter(std::string_view line, char separator) : rest_(line), separator_(separator) {
  if (separator_ == ' ') rest_ = Trim(rest_);
}

std::optional<std::string_view> CellSplitter::Next() {
  if (ended_) return std::nullopt;
  const size_t end = CellEnd();
  const std::string_view cell = Unquoted(Trim(rest_.substr(0, end)));
  ended_ = end == std::string_view::npos;
  if (!ended_) rest_.remove_prefix(separator_ == ' ' ? rest_.find_first_not_of(' ', end) : end + 1);
  return cell;
}

// A separator within quotes does not end a cell, and a quote within quotes is written twice.
size_t CellSplitter::CellEnd() const {
  const size_t first = rest_.find_first_not_of(' ');
  if (first == std::string_view::npos || rest_[first] != '"') return rest_.find(separator_);
  size_t quote = rest_.find('"', first + 1);
  while (quote != std::string_view::npos && rest_.substr(quote + 1).starts_with('"'))
    quote = rest_.find('"', quote + 2);
  return quote == std::string_view::npos ? quote : rest_.find(separator_, quote);
}

char FindSeparator(std::string_view line) {
  for (const char separator : {'\t', ',', ';'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return Trim(line).find(' ') != std::string_view::npos ? ' ' : ',';
}

std::optional<double> ReadNumber(std::string_view cell) {
  if (cell.size() == 1 && cell[0] >= '0' && cell[0] <= '9') return cell[0] - '0';
  if (IsMissing(cell)) return std::numeric_limits<double>::quiet_NaN();
  if (cell[0] == '+') cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

bool ParseBits(std::string_view line, char separator, uint8_t* out, size_t columns) {
  if (line.size() != 2 * columns - 1) return false;
  const auto expected = static_cast<uint16_t>('0' | static_cast<unsigned char>(separator) << 8);
  uint16_t wrong = 0;
  for (size_t i = 0; i + 1 < columns; ++i) {
    uint16_t pair;  // a cell and the separator behind it, on a little-endian machine
    std::memcpy(&pair, line.data() + 2 * i, 2);
    pair ^= expected;
    wrong |= pair;
    out[i] = static_cast<uint8_t>(pair);
  }
  const auto last = static_cast<uint16_t>(static_cast<unsigned char>(line.back()) ^ '0');
  out[columns - 1] = static_cast<uint8_t>(last);
  return ((wrong | last) & ~1) == 0;
}

bool ParseLevels(std::string_view line, char separator, double* out, size_t columns) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto digit = [&] { return at < end ? static_cast<unsigned>(*at - '0') : 10u; };
  for (size_t i = 0; i < columns; ++i) {
    unsigned value = digit();
    if (value > 9) return false;
    ++at;
    for (int more = 0; more < 2 && digit() <= 9; ++more, ++at) value = 10 * value + digit();
    out[i] = value;
    if (i + 1 < columns && (at == end || *at++ != separator)) return false;
  }
  return at == end;
}

}  // namespace ort_ed
