#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ort_ed/variables.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {

// What the variables are called wherever people read of them: by the header of the file, else "column 3", as
// messages about files count.
std::vector<std::string> NameVariables(std::vector<std::string> header, int64_t dimension);
// By the model's own list, where it has one.
std::vector<std::string> NameVariables(const Variables& variables, const RowReader& rows);

}  // namespace ort_ed
