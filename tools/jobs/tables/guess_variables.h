#pragma once

#include <string>
#include <vector>

#include "ort_ed/variables.h"
#include "tools/jobs/tables/table_options.h"
#include "tools/jobs/tables/table_profile.h"

namespace ort_ed {

// What becomes of the columns of a table.
struct TableGuess {
  Variables variables;
  std::vector<std::string> descriptions;  // of each variable: "ordered, 16 bins from 17 to 90"
  std::vector<std::string> warnings;      // what is odd, and what to do
  struct Dropped {
    std::string column, why;
  };
  std::vector<Dropped> dropped;
};

// Throws OptionError for a name that is no column, and kBadData where no column is left.
TableGuess GuessVariables(const TableProfile& profile, const TableOptions& options);

// For messages: cells may be as long as books, and have several lines.
std::string Shortened(const std::string& text);

// "ordered, 16 bins from 17 to 90, missing values".
std::string DescribeVariable(const Variable& variable);

}  // namespace ort_ed
