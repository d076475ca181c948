#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/variables.h"

namespace ort_ed {

// Rows of a table as people know them: a column for each variable, in it the label of its state. Every row
// begins with `lead` cells.
struct ShownRow {
  std::vector<std::string> lead;
  std::span<const uint8_t> bits;
};
std::string RowTableHtml(const Variables& variables, const std::vector<std::string>& lead,
                         const std::vector<ShownRow>& rows);

}  // namespace ort_ed
