#include "tools/jobs/train/pictures/markdown_table.h"

#include <algorithm>

#include "runtime/data/table/variable_codec.h"

namespace ort_ed {
namespace {

// A cell must not end where its text has a bar or a line end.
std::string Cell(const std::string& text) {
  std::string cell = " ";
  for (const char c : text) {
    if (c == '|' || c == '\\') cell += '\\';
    cell += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return cell + " |";
}

}  // namespace

std::string MarkdownTable(const Variables& variables, std::span<const uint8_t> rows) {
  constexpr int64_t kMostRows = 10, kMostColumns = 40;
  const int64_t dimension = variables.dimension();
  const int64_t columns = std::min(variables.size(), kMostColumns);
  const int64_t count = std::min(std::ssize(rows) / dimension, kMostRows);
  std::string names = "|", line = "|", cells;
  for (int64_t v = 0; v < columns; ++v) {
    names += Cell(variables.Name(v));
    line += " --- |";
  }
  for (int64_t row = 0; row < count; ++row) {
    cells += "|";
    for (int64_t v = 0; v < columns; ++v)
      cells += Cell(DescribeState(variables[v], variables.State(rows.data() + row * dimension, v)));
    cells += "\n";
  }
  return names + "\n" + line + "\n" + cells;
}

}  // namespace ort_ed
