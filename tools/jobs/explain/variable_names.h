#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/row_reader.h"

namespace ort_ed {

// What the variables are called wherever people read of them: by the header of the file, else "column 3", as
// messages about files count.
std::vector<std::string> NameVariables(std::vector<std::string> header, int64_t dimension);
inline std::vector<std::string> NameVariables(const RowReader& rows) {
  return NameVariables(rows.column_names(), rows.columns());
}

}  // namespace ort_ed
