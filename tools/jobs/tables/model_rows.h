#pragma once

#include <memory>
#include <string>

#include "ort_ed/variables.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/table/table_rows.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Rows for a model with these variables. A text table is read by the names of its columns; other files, and
// texts of 0 and 1 as wide as the model, hold its bits, of which each variable must have exactly one set.
// Of a model whose variables are not described as OpenRows(). Throws what OpenRows() and OpenTableRows()
// throw, and OptionError of `id` where there are no columns. `table`: for tables; whether cells may be
// missing is up to `options`.
struct ModelRows {
  std::unique_ptr<RowReader> reader;
  TableRows* table = nullptr;  // the same, where it is a table
};
ModelRows OpenModelRows(const std::string& path, const Variables& variables, const RowOptions& options,
                        TableRowOptions table = {});

// Tells of cells whose values the training did not have: where they are many in a column, as a warning, which
// the result has, too; and of numbers that may be meant as percentages. To be called when all rows are read.
void TellOfStrangers(const ModelRows& rows, const std::string& path, JobResult& result, Observer& observer);

// At most `max_rows` rows of it in memory, from the top; 0: all.
RowTable ReadModelRows(const std::string& path, const Variables& variables, const RowOptions& options,
                       int64_t max_rows = 0);

// All rows of a file in memory, and what is said of them.
struct ModelData {
  RowTable rows;
  std::vector<std::string> names;  // of the bits
  std::vector<std::string> warnings;
};
// Tells of strangers.
ModelData ReadModelData(const std::string& path, const Variables& variables, const RowOptions& options,
                        Observer& observer);
// In front of those of the job that used the rows.
void AddWarningsOf(const ModelData& data, JobResult& result);

}  // namespace ort_ed
