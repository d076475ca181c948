#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/variables.h"
#include "runtime/data/output_stream.h"
#include "runtime/data/row_writer.h"

namespace ort_ed {

// Whether a file of this name is a text table: .csv, .tsv or "-".
bool IsTableName(const std::string& path);

// The metadata of a model that tell how the table was separated that it was trained on, where not by commas.
inline constexpr char kSeparatorKey[] = "ort_ed.table_separator";

// What cells of a table are separated by that follows another: as that one's, where programs know it.
char SeparatorLike(const std::string& separator);

// A text table of cells, with a header. A .tsv is separated by tabs, others as the text says, of which an
// empty one is a comma.
class CellWriter {
 public:
  CellWriter(const std::string& path, const std::vector<std::string>& names,
             const std::string& separator = "");
  void Write(std::span<const std::string> cells);  // of one row
  void FlushIfLive() { output_.FlushIfLive(); }
  void Commit() { output_.Commit(); }

 private:
  void Append(std::span<const std::string> cells);

  OutputStream output_;
  char separator_;
};

// Cells that the user gave and that are written as they are. Row i of the output has those of row
// (i mod chains) mod rows; an empty text is none.
struct GivenCells {
  std::vector<std::string> cells = {};  // rows x variables
  int64_t chains = 1;
  std::string id = {};                // the name of a column in front; empty: there is none
  std::vector<std::string> ids = {};  // its cells
};

// Rows of bits as the table that they stand for: a column for each variable, in the user's own labels and
// units. Values within bins are drawn by the seed and the number of the row.
std::unique_ptr<RowWriter<uint8_t>> CreateTableFile(const std::string& path, const Variables& variables,
                                                    uint64_t seed, GivenCells given = {},
                                                    const std::string& separator = "");

}  // namespace ort_ed
