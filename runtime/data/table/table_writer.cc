#include "runtime/data/table/table_writer.h"

#include <utility>

#include "ort_ed/random.h"
#include "runtime/data/table/variable_codec.h"

namespace ort_ed {
namespace {

constexpr uint32_t kValuePurpose = 0x7461626C;  // "tabl"

std::vector<std::string> Names(const Variables& variables, const std::string& id) {
  std::vector<std::string> names;
  if (!id.empty()) names.push_back(id);
  for (int64_t v = 0; v < variables.size(); ++v) names.push_back(variables[v].name);
  return names;
}

class TableFile : public RowWriter<uint8_t> {
 public:
  TableFile(const std::string& path, const Variables& variables, uint64_t seed, GivenCells given,
            const std::string& separator)
      : writer_(path, Names(variables, given.id), separator),
        variables_(variables),
        seed_(seed),
        given_(std::move(given)),
        missing_(variables.size() == 1 ? "NA" : "") {}  // a blank line would be no row

  void Write(std::span<const uint8_t> rows) override {
    const auto dimension = static_cast<size_t>(variables_.dimension());
    for (; !rows.empty(); rows = rows.subspan(dimension), ++row_) {
      RandomStream random(seed_, kValuePurpose, 0, row_);
      const std::string* const given = Given();
      cells_.clear();
      if (!given_.id.empty()) cells_.push_back(given_.ids[GivenRow(given_.ids.size())]);
      for (int64_t v = 0; v < variables_.size(); ++v) {
        // Drawn in any case: what is given in one cell does not change what is drawn in another.
        std::string drawn = DecodeState(variables_[v], variables_.State(rows.data(), v), random, missing_);
        const bool own = given != nullptr && !given[v].empty();
        cells_.push_back(own ? given[v] : std::move(drawn));
      }
      writer_.Write(cells_);
    }
    writer_.FlushIfLive();
  }
  void Commit() override { writer_.Commit(); }

 private:
  // The cells that were given for this row; null: none.
  const std::string* Given() const {
    if (given_.cells.empty()) return nullptr;
    const auto columns = static_cast<size_t>(variables_.size());
    return given_.cells.data() + GivenRow(given_.cells.size() / columns) * columns;
  }
  size_t GivenRow(size_t rows) const { return row_ % static_cast<uint64_t>(given_.chains) % rows; }

  CellWriter writer_;
  Variables variables_;
  uint64_t seed_;
  GivenCells given_;
  std::string missing_;
  std::vector<std::string> cells_;
  uint64_t row_ = 0;
};

}  // namespace

// Metadata may say anything.
char SeparatorLike(const std::string& separator) {
  return separator == ";" || separator == "|" || separator == "\t" ? separator[0] : ',';
}

bool IsTableName(const std::string& path) {
  return path == "-" || path.ends_with(".csv") || path.ends_with(".tsv");
}

CellWriter::CellWriter(const std::string& path, const std::vector<std::string>& names,
                       const std::string& separator)
    : output_(path), separator_(path.ends_with(".tsv") ? '\t' : SeparatorLike(separator)) {
  Append(names);
}

void CellWriter::Append(std::span<const std::string> cells) {
  std::string& buffer = output_.buffer();
  for (size_t i = 0; i < cells.size(); ++i) {
    buffer += QuoteCell(cells[i], separator_);
    buffer += i + 1 == cells.size() ? '\n' : separator_;
  }
}

void CellWriter::Write(std::span<const std::string> cells) {
  Append(cells);
  output_.FlushIfLarge();
}

std::unique_ptr<RowWriter<uint8_t>> CreateTableFile(const std::string& path, const Variables& variables,
                                                    uint64_t seed, GivenCells given,
                                                    const std::string& separator) {
  return std::make_unique<TableFile>(path, variables, seed, std::move(given), separator);
}

}  // namespace ort_ed
