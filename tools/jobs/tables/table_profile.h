#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/observer.h"
#include "tools/jobs/tables/column_profile.h"
#include "tools/jobs/tables/table_options.h"

namespace ort_ed {

// What a text table holds, read once from its beginning to its end.
struct TableProfile {
  std::string path;
  std::vector<std::string> names;  // of the header, or column_1, column_2, ...
  std::vector<ColumnProfile> columns;
  int64_t rows = 0;
  bool has_header = false;
  bool has_index = false;       // the first column numbers the rows, without a name
  bool counts_columns = false;  // the first row may be a header: 2019, 2020, 2021
};

// Throws kIo and kBadData; kInterrupted where the observer asks to stop.
TableProfile ProfileTable(const std::string& path, TableHeader header, Observer& observer);

}  // namespace ort_ed
