#include "runtime/data/table/table_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/data/table/cell_format.h"
#include "runtime/data/table/cell_value.h"
#include "runtime/data/table/variable_codec.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) shown.push_back("'" + names[i] + "'");
  if (names.size() > kMost) shown.push_back("and " + std::to_string(names.size() - kMost) + " more");
  return Join(shown, ", ");
}

bool IsOfPercentages(const Variable& variable) {
  return ParseNumberFormat(variable.format).after.ends_with('%');
}

bool MayBePartOfOne(const std::string& cell) {
  const CellValue value = ReadCellValue(cell, /*decimal_comma=*/true);
  const bool number = value.type == CellValues::kNumber || value.type == CellValues::kInteger;
  return number && value.form.after.empty() && value.number != 0 && std::abs(value.number) < 1;
}

class EncodedRows final : public TableRows {
 public:
  EncodedRows(InputStream stream, const Variables& variables, const TableRowOptions& options)
      : table_(std::move(stream)), variables_(variables), options_(options) {
    if (!table_.Next()) table_.Fail("has no rows: it is empty or has only blank lines");
    if (!FindColumns(table_.cells())) FindColumns(PlainNames());
    for (int64_t v = 0; v < variables_.size(); ++v) {
      encoders_.emplace_back(variables_[v], table_.decimal_comma());
      strangers_.push_back({.column = variables_[v].name});
      of_percentages_.push_back(IsOfPercentages(variables_[v]));
    }
  }

  int64_t columns() const override { return variables_.dimension(); }
  std::optional<int64_t> rows() const override { return std::nullopt; }
  int64_t omitted() const override { return omitted_; }
  const std::vector<std::string>& ids() const override { return ids_; }
  const std::vector<std::string>& cells() const override { return cells_; }
  const std::vector<Strangers>& strangers() const override { return strangers_; }
  int64_t rows_read() const override { return rows_read_; }
  char separator() const override { return table_.separator(); }
  int64_t unknown_columns() const override { return unknown_columns_; }

  int64_t Read(std::span<uint8_t> rows) override {
    const auto dimension = static_cast<size_t>(columns());
    const auto wanted = static_cast<int64_t>(rows.size() / dimension);
    int64_t done = 0;
    ids_.clear();
    cells_.clear();
    while (done < wanted) {
      if (done > 0 && table_.MustWait()) break;  // what is there comes first
      if (!std::exchange(pending_, false) && !table_.Next()) break;
      if (!EncodeRow(rows.data() + static_cast<size_t>(done) * dimension)) {
        ++omitted_;
        continue;
      }
      if (id_) ids_.push_back(table_.cells()[*id_]);
      if (options_.keep_cells) KeepCells();
      ++done;
    }
    if (done == 0 && !any_)
      table_.Fail(omitted_ == 0
                      ? "has a header but no rows below it"
                      : "has no row without missing cells; give these a state of their own (missing "
                        "state), or leave out the columns that have them (drop)");
    any_ |= done > 0;
    rows_read_ += done;
    return done;
  }

 private:
  std::vector<std::string> PlainNames() const {
    std::vector<std::string> names;
    for (int64_t i = 1; i <= table_.columns(); ++i) names.push_back(PlainColumnName(i));
    return names;
  }

  // Whether the names are those of the columns; of the plain ones, throws where they are not.
  bool FindColumns(const std::vector<std::string>& names) {
    const bool header = &names == &table_.cells();
    std::vector<std::string> absent;
    places_.clear();
    for (int64_t v = 0; v < variables_.size(); ++v) {
      const auto place = FindColumn(names, variables_[v].name);
      if (place) places_.push_back(*place);
      if (!place) absent.push_back(variables_[v].name);
    }
    if (header && !absent.empty()) {
      header_lacks_ = std::move(absent);
      return false;
    }
    if (!absent.empty())
      table_.Fail("lacks columns that " + options_.columns_of + ": " + Quoted(header_lacks_) +
                  "; its first line has " + Quoted(table_.cells()) +
                  ". Columns are found by the names in the first line, in any order");
    if (!options_.id.empty()) id_ = FindColumn(names, options_.id);
    if (!options_.id.empty() && !id_)
      table_.Fail("has no column '" + options_.id + "' to carry along; its columns are " + Quoted(names));
    pending_ = !header;
    if (!header) unknown_columns_ = table_.columns() - 1 - std::ranges::max(places_);
    return true;
  }

  std::optional<size_t> FindColumn(const std::vector<std::string>& names, const std::string& name) const {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    if (std::find(found + 1, names.end(), name) != names.end())
      table_.Fail("has two columns '" + name + "'; rename one of them");
    return static_cast<size_t>(found - names.begin());
  }

  // Whether the row has all that it needs.
  bool EncodeRow(uint8_t* row) {
    for (int64_t v = 0; v < variables_.size(); ++v) {
      const auto index = static_cast<size_t>(v);
      const std::string& cell = table_.cells()[places_[index]];
      uint8_t* const bits = row + variables_.first_bit(v);
      const bool hole = options_.allow_missing && IsMissingCell(cell);
      const std::optional<int64_t> state = hole ? std::nullopt : Encode(index, cell);
      if (state) {
        variables_.SetState(row, v, *state);
      } else if (options_.allow_missing) {
        std::fill_n(bits, variables_.bits(v), kMissingValue);
      } else if (options_.omit_missing) {
        return false;
      } else if (const auto other = variables_[v].other_state()) {
        variables_.SetState(row, v, *other);  // never missing in training: as odd as a value never seen
        Note(strangers_[index], CellFit::kOther, cell);
      } else {
        table_.FailCell(variables_[v].name, "is " + (cell.empty() ? "empty" : "'" + cell + "'") +
                                                ", and there is no state for missing values, " +
                                                options_.missing_advice);
      }
    }
    return true;
  }

  void KeepCells() {
    for (const size_t place : places_) {
      const std::string& cell = table_.cells()[place];
      cells_.push_back(IsMissingCell(cell) ? "" : cell);
    }
  }

  void Note(Strangers& strangers, CellFit fit, const std::string& cell) const {
    if (fit == CellFit::kOwn) return;
    if (strangers.others + strangers.nearest == 0) {
      strangers.example = cell;
      strangers.line = table_.line();
    }
    ++(fit == CellFit::kOther ? strangers.others : strangers.nearest);
  }

  void NoteBare(BarePercentages& bare, const std::string& cell) const {
    if (!MayBePartOfOne(cell) || bare.cells++ > 0) return;
    bare.example = cell;
    bare.line = table_.line();
  }

  std::optional<int64_t> Encode(size_t variable, const std::string& cell) {
    try {
      CellFit fit;
      const auto state = encoders_[variable].Encode(cell, &fit);
      Note(strangers_[variable], fit, cell);
      if (of_percentages_[variable]) NoteBare(strangers_[variable].bare, cell);
      return state;
    } catch (const std::invalid_argument& error) {
      const Variable& of = variables_[static_cast<int64_t>(variable)];
      const bool may_be_empty = of.missing || options_.allow_missing || options_.omit_missing;
      table_.FailCell(of.name, std::string(error.what()) + "; correct it, " +
                                   (may_be_empty ? "leave it empty if it is not known, " : "") +
                                   options_.other_advice);
    }
  }

  TableReader table_;
  Variables variables_;
  TableRowOptions options_;
  std::vector<VariableEncoder> encoders_;
  std::vector<size_t> places_;  // of the variables among the columns
  std::vector<std::string> header_lacks_;
  std::optional<size_t> id_;
  std::vector<std::string> ids_, cells_;
  std::vector<Strangers> strangers_;
  std::vector<bool> of_percentages_;
  int64_t rows_read_ = 0;
  bool pending_ = false;  // the first record is a row
  bool any_ = false;
  int64_t omitted_ = 0;
  int64_t unknown_columns_ = 0;
};

}  // namespace

std::string PlainColumnName(int64_t number) { return "column_" + std::to_string(number); }

std::unique_ptr<TableRows> OpenTableRows(InputStream stream, const Variables& variables,
                                         const TableRowOptions& options) {
  return std::make_unique<EncodedRows>(std::move(stream), variables, options);
}

}  // namespace ort_ed
