#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/input_stream.h"

namespace ort_ed {

// The records of a text table (.csv, .tsv) as they lie in companies: cells separated by the first of tab,
// comma, semicolon, | and blanks that the first line has; quotes around cells, within which separators, line
// ends and doubled quotes are text; UTF-8 with or without a byte order mark. Blank lines are passed over, and
// lines that begin with # in front of the first record, unless the last of them names its columns: #id,name.
// Every record has as many cells as the first. Memory is that of one record, which may have 16 MiB.
// Everything throws kIo or kBadData naming file and line.
class TableReader {
 public:
  explicit TableReader(InputStream stream);

  // Whether there was a further record; its cells are trimmed and without quotes.
  bool Next();
  const std::vector<std::string>& cells() const { return cells_; }
  int64_t line() const { return line_; }  // where the record begins, as people count
  // Whether Next() would have to wait for whoever writes into a pipe.
  bool MustWait() const;

  const std::string& name() const { return stream_.name(); }
  // Tables that are separated by semicolons write 1,5 where others write 1.5.
  bool decimal_comma() const { return separator_ == ';'; }
  char separator() const { return separator_; }  // of the first record; '\0' before
  int64_t columns() const { return columns_; }   // of the first record; 0 before

  // Throws kBadData: "'file' line 7, column 'age' <why>".
  [[noreturn]] void FailCell(const std::string& column, const std::string& why) const;
  [[noreturn]] void Fail(const std::string& what) const { stream_.Fail(what); }

 private:
  bool LoadRecord();
  bool ReadFirst();
  bool ReadFurther();
  bool TakeHeader(const std::string& names, int64_t line);
  bool LoadText();            // the next record that is not blank
  std::string_view Record();  // that was loaded last
  void RefuseReturns(std::string_view record) const;
  void SplitRecord(std::string_view record);
  void CheckText() const;

  InputStream stream_;
  char separator_ = '\0';  // not known yet
  std::vector<std::string> cells_;
  int64_t line_ = 0, lines_read_ = 0;
  int64_t columns_ = 0, first_line_ = 0;
  int64_t below_line_ = 0;  // where the next record begins if it is loaded, since its header was a remark
  size_t text_bytes_ = 0, record_bytes_ = 0;
};

// Whether what follows is text and no array file; throws kBadData for formats that are not read.
bool IsText(InputStream& stream);

}  // namespace ort_ed
