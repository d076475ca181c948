#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ort_ed/variables.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/table/table_reader.h"

namespace ort_ed {

// The name of a column of a table without a header; counts from 1.
std::string PlainColumnName(int64_t number);

struct TableRowOptions {
  // A missing cell of any variable: all its bits are kMissingValue, instead of the state of missing values.
  bool allow_missing = false;
  // A row with a missing cell of a variable without such a state is left out, instead of an error.
  bool omit_missing = false;
  std::string id = "";      // a column that is carried along
  bool keep_cells = false;  // as they are written
  // For messages, who says what columns there must be.
  std::string columns_of = "the model was trained on";
  // And what to do about a missing cell that no state stands for.
  std::string missing_advice =
      "since none was missing in training; fill it in (`ort-ed sample --clamp` draws missing cells), remove "
      "the "
      "row, or sum over what it may be (`ort-ed score --marginalise`)";
  // What else to do about a cell with another value that no state stands for.
  std::string other_advice = "or remove the row";
};

// Numbers below 1 without a % in a column of percentages: 0.45, read as 0.45 %, may be meant as 45 %.
struct BarePercentages {
  int64_t cells = 0;
  std::string example = {};  // the first of them
  int64_t line = 0;          // where it stands
};

// Cells of a column that have no state of their own, or may be meant otherwise.
struct Strangers {
  std::string column = {};
  int64_t others = 0;        // have that of all other values
  int64_t nearest = 0;       // have that of the nearest number
  std::string example = {};  // the first of them
  int64_t line = 0;          // where it stands
  BarePercentages bare = {};
};

// The rows of a text table as the bits of `variables`. Columns are found by their names in the header, in any
// order, and others are ignored; a table without a header has the columns column_1, column_2, ... Throws
// kBadData for a table that lacks a column, and for a cell that no state stands for, naming file, line and
// column.
class TableRows : public RowReader {
 public:
  virtual int64_t omitted() const = 0;  // rows so far that were left out
  // The cells of the column `id` of the rows that Read() gave last.
  virtual const std::vector<std::string>& ids() const = 0;
  // With `keep_cells` the cells of these rows, rows x variables; of missing ones the text is empty.
  virtual const std::vector<std::string>& cells() const = 0;
  // Of the rows so far, for each variable.
  virtual const std::vector<Strangers>& strangers() const = 0;
  virtual int64_t rows_read() const = 0;
  virtual char separator() const = 0;  // of its cells
  // Without a header columns are known by their places: how many stand behind the last that is known.
  virtual int64_t unknown_columns() const = 0;
};
std::unique_ptr<TableRows> OpenTableRows(InputStream stream, const Variables& variables,
                                         const TableRowOptions& options = {});

}  // namespace ort_ed
