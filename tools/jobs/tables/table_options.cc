#include "tools/jobs/tables/table_options.h"

#include <algorithm>

#include "runtime/support/text.h"

namespace ort_ed {

void TableOptions::Describe(Declare<TableOptions>& declare) {
  using O = TableOptions;
  declare("columns", &O::columns, "NAME,...",
          "columns of a table to learn; or how many variables rows of packed bits have. 0: as the file says");
  declare("drop", &O::drop, "NAME,...", "columns of a table to leave out: ids, the class");
  declare("categories", &O::categories, "NAME,...",
          "columns of numbers that are categories without an order");
  declare("ordered", &O::ordered, "NAME,...", "columns of text whose categories have an order");
  declare("cyclic", &O::cyclic, "NAME,...",
          "columns whose last category is beside the first: months, hours, directions");
  declare("bins", &O::bins, "[2, 1000]", "bins for columns of numbers, with equally many rows in each");
  declare("rare", &O::rare, "[1, inf)",
          "categories in fewer rows than this share a state, which is that of unseen ones, too");
  declare("max_categories", &O::max_categories, "[2, 10000]", "the most frequent ones; others share a state");
  declare("missing", &O::missing, {{"state", MissingCells::kState}, {"omit", MissingCells::kOmit}},
          "missing cells are a state of their own, or their rows are left out of the training");
  declare("header", &O::header,
          {{"auto", TableHeader::kAuto}, {"yes", TableHeader::kYes}, {"no", TableHeader::kNo}},
          "whether the first line of a table names the columns");
  declare(
      "variables", &O::variables, "FILE",
      "what to make of the columns, as RUN/variables.toml of another run says; edit it to change guesses");
}

int64_t TableOptions::Width() const {
  if (columns.size() != 1) return 0;
  return ParseInteger(columns[0]).value_or(0);
}

std::string TableOptions::FirstGiven(const std::vector<std::string>& but) const {
  if (NamesColumns()) return "columns";
  const Schema& schema = SchemaOf<TableOptions>();
  const TableOptions defaults;
  for (const Option& option : schema.options) {
    const bool meant = option.key != "columns" && std::ranges::find(but, option.key) == but.end();
    if (meant && option.Get(this) != option.Get(&defaults)) return option.key;
  }
  return "";
}

}  // namespace ort_ed
