#include "runtime/data/table/table_reader.h"

#include <algorithm>
#include <utility>

#include "runtime/data/array_layout.h"
#include "runtime/support/limits.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

constexpr std::string_view kSeparators = "\t,;|";

// Follows a record character by character. A quote counts where a cell begins, and until it ends: 5" is five
// inches.
class QuoteTracker {
 public:
  // '\0': not known yet.
  explicit QuoteTracker(char separator) : separator_(separator) {}

  // Whether the next character, `c`, is within quotes or closes them.
  bool IsQuoted(char c) {
    if (quoted_) {
      quoted_ = c != '"';  // a doubled quote closes and opens again
      closed_ = !quoted_;
      return quoted_;
    }
    quoted_ = c == '"' && (at_start_ || closed_);
    closed_ = false;
    at_start_ = IsSeparator(c) || (at_start_ && c == ' ');
    return quoted_;
  }

 private:
  bool IsSeparator(char c) const {
    return separator_ == '\0' ? kSeparators.find(c) != std::string_view::npos : c == separator_;
  }

  char separator_;
  bool at_start_ = true, quoted_ = false, closed_ = false;
};

// The first of the candidates that the record has outside quotes; blanks only where there is no other.
char ChooseSeparator(std::string_view record) {
  std::string outside;
  QuoteTracker quotes('\0');
  for (const char c : record)
    if (!quotes.IsQuoted(c) && c != '"') outside += c;
  for (const char separator : kSeparators)
    if (outside.find(separator) != std::string::npos) return separator;
  return Trim(outside).find(' ') != std::string_view::npos ? ' ' : ',';
}

// "#id,name" and "#,name" may be names of columns; "# made by us" and "## made by us" are remarks.
bool MayBeHeader(std::string_view remark) {
  return remark.size() > 1 && std::string_view("# ").find(remark[1]) == std::string_view::npos;
}

}  // namespace

TableReader::TableReader(InputStream stream) : stream_(std::move(stream)) {
  if (stream_.Peek(kByteOrderMark.size()).starts_with(kByteOrderMark)) stream_.Skip(kByteOrderMark.size());
}

bool TableReader::MustWait() const {
  if (below_line_ > 0) return false;
  const std::string_view buffered =
      stream_.Buffered().substr(std::min(record_bytes_, stream_.Buffered().size()));
  return buffered.find('\n') == std::string_view::npos && !stream_.ready();
}

// Up to the first end of a line that is not within quotes.
bool TableReader::LoadRecord() {
  stream_.Skip(std::exchange(record_bytes_, 0));
  std::string_view text = stream_.Peek(1);
  if (text.empty()) return false;
  line_ = lines_read_ + 1;
  size_t at = 0;
  bool quoted = false;
  QuoteTracker quotes(separator_);
  for (;; ++at) {
    if (at == text.size()) {
      if (at > kMaxLineBytes)
        stream_.Fail("line " + std::to_string(line_) + " is longer than the " +
                     std::to_string(kMaxLineBytes) +
                     " bytes that a row may have, or a quote in it is never closed");
      text = stream_.Peek(at + 1);
      if (text.size() == at) break;
    }
    quoted = quotes.IsQuoted(text[at]);
    if (text[at] != '\n') continue;
    ++lines_read_;
    if (!quoted) break;
  }
  const bool ended = at == text.size();
  if (ended) ++lines_read_;
  if (ended && quoted)
    stream_.Fail("line " + std::to_string(line_) + " has a quote (\") that is never closed");
  record_bytes_ = ended ? at : at + 1;
  text_bytes_ = at > 0 && text[at - 1] == '\r' ? at - 1 : at;
  return true;
}

// Lines that end as old Macs wrote them would be one row.
void TableReader::RefuseReturns(std::string_view record) const {
  QuoteTracker quotes(separator_);
  for (const char c : record)
    if (!quotes.IsQuoted(c) && c == '\r')
      stream_.Fail("line " + std::to_string(line_) +
                   " has carriage returns without line feeds: save the file with line ends of LF or CRLF");
}

std::string_view TableReader::Record() { return stream_.Peek(record_bytes_).substr(0, text_bytes_); }

bool TableReader::LoadText() {
  do {
    if (!LoadRecord()) return false;
  } while (Record().find_first_not_of(" \r") == std::string_view::npos);
  return true;
}

// They are names where the record below, which is loaded, has as many cells.
bool TableReader::TakeHeader(const std::string& names, int64_t line) {
  separator_ = ChooseSeparator(names);
  SplitRecord(Record());
  const size_t below = cells_.size();
  SplitRecord(names);
  if (below < 2 || cells_.size() != below) return false;
  below_line_ = std::exchange(line_, line);
  return true;
}

bool TableReader::ReadFirst() {
  std::string remark;
  for (int64_t line = 0;; line = line_, remark = Record()) {
    if (!LoadText()) return false;
    if (Record().starts_with('#')) continue;
    if (MayBeHeader(remark) && TakeHeader(remark, line)) break;
    separator_ = ChooseSeparator(Record());
    RefuseReturns(Record());
    SplitRecord(Record());
    break;
  }
  columns_ = std::ssize(cells_);
  first_line_ = line_;
  return true;
}

bool TableReader::ReadFurther() {
  if (below_line_ > 0)
    line_ = std::exchange(below_line_, 0);
  else if (!LoadText())
    return false;
  SplitRecord(Record());
  return true;
}

bool TableReader::Next() {
  if (!(columns_ == 0 ? ReadFirst() : ReadFurther())) return false;
  const auto count = std::ssize(cells_);
  if (count != columns_)
    stream_.Fail("line " + std::to_string(line_) + " has " + std::to_string(count) + " cells, but line " +
                 std::to_string(first_line_) + " has " + std::to_string(columns_) +
                 "; every row must have as many (a cell that holds a separator needs quotes around it)");
  CheckText();
  return true;
}

void TableReader::CheckText() const {
  for (size_t i = 0; i < cells_.size(); ++i) {
    const bool nul = cells_[i].find('\0') != std::string::npos;
    if (!nul && IsUtf8(cells_[i])) continue;
    stream_.Fail("line " + std::to_string(line_) + ", column " + std::to_string(i + 1) +
                 (nul ? " has a NUL byte, which no text has: the file is damaged; copy it again, or save it "
                        "as UTF-8"
                      : " is not UTF-8; save the file as UTF-8"));
  }
}

void TableReader::SplitRecord(std::string_view record) {
  size_t count = 0;
  const auto next_cell = [&]() -> std::string& {
    if (count >= kMaxColumns)
      stream_.Fail("line " + std::to_string(line_) + " has more than " + std::to_string(kMaxColumns) +
                   " cells");
    if (count == cells_.size()) cells_.emplace_back();
    std::string& cell = cells_[count++];
    cell.clear();
    return cell;
  };
  std::string_view rest = separator_ == ' ' ? Trim(record) : record;
  for (bool more = true; more;) {
    std::string& cell = next_cell();
    const size_t start = rest.find_first_not_of(' ');
    size_t end;
    if (start != std::string_view::npos && rest[start] == '"') {
      size_t at = start + 1;
      for (; at < rest.size(); ++at) {
        if (rest[at] != '"') {
          cell += rest[at];
        } else if (at + 1 < rest.size() && rest[at + 1] == '"') {
          cell += rest[at++];
        } else {
          break;
        }
      }
      end = rest.find(separator_, at);
      const std::string_view behind = rest.substr(std::min(at + 1, rest.size()), end - at - 1);
      cell += Trim(behind);
      cell = Trim(cell);
    } else {
      end = rest.find(separator_);
      cell = Trim(rest.substr(0, end));
    }
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(separator_ == ' ' ? rest.find_first_not_of(' ', end) : end + 1);
  }
  cells_.resize(count);
}

void TableReader::FailCell(const std::string& column, const std::string& why) const {
  stream_.Fail("line " + std::to_string(line_) + ", column '" + column + "' " + why);
}

}  // namespace ort_ed
