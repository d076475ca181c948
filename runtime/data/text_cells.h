#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/data/input_stream.h"

namespace ort_ed {

// The lines of a text file that hold cells: blank lines and lines that begin with # are passed over.
class TextLines {
 public:
  explicit TextLines(InputStream stream);

  // The current line without its end; nothing behind the last. Valid until the next call of a member.
  std::optional<std::string_view> Current();
  void Advance();
  // Whether Current() would have to wait for whoever writes into a pipe.
  bool MustWait() const;
  int64_t number() const { return number_; }  // of the current line, as people count
  // What comes next from the start of the current line on, at most `size` bytes.
  std::string_view Sample(size_t size);
  const InputStream& stream() const { return stream_; }

 private:
  bool Load();

  InputStream stream_;
  int64_t number_ = 0;
  size_t text_bytes_ = 0;  // of the current line: without its end
  size_t line_bytes_ = 0;  // and with it; 0: not loaded
};

// Cuts a line into cells, without the blanks and double quotes around them. With a space as separator any
// number of spaces separate two cells.
class CellSplitter {
 public:
  CellSplitter(std::string_view line, char separator);
  std::optional<std::string_view> Next();

 private:
  size_t CellEnd() const;

  std::string_view rest_;
  char separator_;
  bool ended_ = false;
};

// The first of tab, comma, semicolon and space that the line has.
char FindSeparator(std::string_view line);

// The number a cell holds; NaN for a missing one (empty, NA, NaN, ?); nothing for other text.
std::optional<double> ReadNumber(std::string_view cell);

// A line of `columns` cells of 0 or 1 with single separators and nothing else, as nearly every line of a
// binary table is, at memory speed. False, with any contents of `out`, for any other line.
bool ParseBits(std::string_view line, char separator, uint8_t* out, size_t columns);
// The same for whole numbers of one to three digits: grey levels.
bool ParseLevels(std::string_view line, char separator, double* out, size_t columns);

}  // namespace ort_ed
