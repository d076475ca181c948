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
// The same of every bit: "colour = red" of a variable with more than one.
std::vector<std::string> NameBits(const Variables& variables, const RowReader& rows);
// What a state of a variable is called: its label, or its number.
std::string NameState(const Variables& variables, int64_t variable, int64_t state);

}  // namespace ort_ed
