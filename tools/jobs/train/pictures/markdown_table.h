#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ort_ed/variables.h"

namespace ort_ed {

// The first ten rows of bits in the table's own categories, at most 40 columns of it.
std::string MarkdownTable(const Variables& variables, std::span<const uint8_t> rows);

}  // namespace ort_ed
