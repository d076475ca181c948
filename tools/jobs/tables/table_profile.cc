#include "tools/jobs/tables/table_profile.h"

#include <map>

#include <fmt/format.h>

#include "runtime/data/table/cell_value.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/data/table/table_rows.h"

namespace ort_ed {
namespace {

void AddRow(const std::vector<std::string>& cells, bool decimal_comma, TableProfile& profile) {
  ++profile.rows;
  for (size_t i = 0; i < cells.size(); ++i) profile.columns[i].Add(cells[i], decimal_comma);
}

// What is wrong with names, for people; empty: nothing.
std::string FindFault(const std::vector<std::string>& names) {
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < names.size(); ++i) {
    if (IsMissingCell(names[i])) return fmt::format("column {} has no name", i + 1);
    const auto [earlier, is_new] = first.emplace(names[i], i);
    if (!is_new)
      return fmt::format("columns {} and {} are both called '{}'", earlier->second + 1, i + 1, names[i]);
  }
  return "";
}

bool AreNames(const std::vector<std::string>& cells) { return FindFault(cells).empty(); }

// A first line looks like a header if columns of numbers or dates begin with text.
bool NamesNumbers(const std::vector<std::string>& first, const TableProfile& below, bool decimal_comma) {
  for (size_t i = 0; i < first.size(); ++i)
    if (!IsMissingCell(first[i]) && ReadCellValue(first[i], decimal_comma).type == CellValues::kText &&
        below.columns[i].type() != CellValues::kText)
      return true;
  return false;
}

// Where all is text: if no cell of it occurs again in its column.
bool NamesTexts(const std::vector<std::string>& first, const TableProfile& below, bool decimal_comma) {
  bool any_text = false;
  for (size_t i = 0; i < first.size(); ++i) {
    if (IsMissingCell(first[i])) continue;
    any_text |= ReadCellValue(first[i], decimal_comma).type == CellValues::kText;
    if (below.columns[i].texts().contains(first[i])) return false;
  }
  return any_text;
}

// Years, or numbers of columns: names that look like a row.
bool CountsColumns(const std::vector<std::string>& first) {
  double last = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const CellValue cell = ReadCellValue(first[i]);
    if (cell.type != CellValues::kInteger || (i > 0 && cell.number != last + 1)) return false;
    last = cell.number;
  }
  return first.size() > 2;
}

// Programs write the numbers of rows in front of them, without a name.
bool HasIndex(const std::vector<std::string>& first, const TableProfile& below) {
  return first.size() > 1 && first[0].empty() && below.columns[0].type() == CellValues::kInteger &&
         below.columns[0].counts_up() && AreNames({first.begin() + 1, first.end()});
}

bool IsHeader(const std::vector<std::string>& first, const TableProfile& below, const TableReader& table) {
  const bool over_numbers = NamesNumbers(first, below, table.decimal_comma());
  if (AreNames(first) || HasIndex(first, below))
    return over_numbers || NamesTexts(first, below, table.decimal_comma());
  if (over_numbers)
    table.Fail("has a first line that looks like a header, but " + FindFault(first) +
               "; name each column, or say header no if the line is a row");
  return false;
}

}  // namespace

TableProfile ProfileTable(const std::string& path, TableHeader header, Observer& observer) {
  TableReader table{InputStream(path)};
  if (!table.Next()) table.Fail("has no rows: it is empty or has only blank lines");
  const std::vector<std::string> first = table.cells();
  TableProfile profile;
  profile.path = path;
  profile.columns.resize(first.size());
  const auto watch = Watch(observer, "reading the table", "rows");
  constexpr int64_t kRowsBetweenLooks = 10'000;
  while (table.Next()) {
    AddRow(table.cells(), table.decimal_comma(), profile);
    if (profile.rows % kRowsBetweenLooks == 0) watch(profile.rows, 0);
  }
  profile.has_header =
      header == TableHeader::kYes || (header == TableHeader::kAuto && IsHeader(first, profile, table));
  profile.has_index = profile.has_header && HasIndex(first, profile);
  if (profile.has_header && !profile.has_index && !AreNames(first))
    table.Fail("has a first line that cannot be a header: " + FindFault(first));
  if (profile.has_header) {
    profile.names = first;
    if (profile.has_index) profile.names[0] = PlainColumnName(1);
  } else {
    AddRow(first, table.decimal_comma(), profile);
    profile.counts_columns = header == TableHeader::kAuto && CountsColumns(first);
    for (size_t i = 1; i <= first.size(); ++i)
      profile.names.push_back(PlainColumnName(static_cast<int64_t>(i)));
  }
  if (profile.rows == 0) table.Fail("has a header but no rows");
  return profile;
}

}  // namespace ort_ed
