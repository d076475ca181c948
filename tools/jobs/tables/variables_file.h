#pragma once

#include <string>

#include "ort_ed/variables.h"
#include "tools/jobs/tables/guess_variables.h"

namespace ort_ed {

// Variables as a TOML file that people edit: a table [[variable]] for each, with the keys of the metadata's
// text (ort_ed/variables.h). `dropped`: columns that are left out, for the comments.
std::string WriteVariables(const Variables& variables, const std::vector<TableGuess::Dropped>& dropped);

// Throws kIo, and kInvalidArgument with file and line.
Variables ReadVariables(const std::string& path);

}  // namespace ort_ed
