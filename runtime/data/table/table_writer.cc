#include "runtime/data/table/table_writer.h"

#include "ort_ed/random.h"
#include "runtime/data/table/variable_codec.h"

namespace ort_ed {
namespace {

constexpr uint32_t kValuePurpose = 0x7461626C;  // "tabl"

std::vector<std::string> Names(const Variables& variables) {
  std::vector<std::string> names;
  for (int64_t v = 0; v < variables.size(); ++v) names.push_back(variables[v].name);
  return names;
}

class TableFile : public RowWriter<uint8_t> {
 public:
  TableFile(const std::string& path, const Variables& variables, uint64_t seed)
      : writer_(path, Names(variables)),
        variables_(variables),
        seed_(seed),
        missing_(variables.size() == 1 ? "NA" : ""),  // a blank line would be no row
        cells_(static_cast<size_t>(variables.size())) {}

  void Write(std::span<const uint8_t> rows) override {
    const auto dimension = static_cast<size_t>(variables_.dimension());
    for (; !rows.empty(); rows = rows.subspan(dimension), ++row_) {
      RandomStream random(seed_, kValuePurpose, 0, row_);
      for (int64_t v = 0; v < variables_.size(); ++v)
        cells_[static_cast<size_t>(v)] =
            DecodeState(variables_[v], variables_.State(rows.data(), v), random, missing_);
      writer_.Write(cells_);
    }
    writer_.FlushIfLive();
  }
  void Commit() override { writer_.Commit(); }

 private:
  CellWriter writer_;
  Variables variables_;
  uint64_t seed_;
  std::string missing_;
  std::vector<std::string> cells_;
  uint64_t row_ = 0;
};

}  // namespace

bool IsTableName(const std::string& path) {
  return path == "-" || path.ends_with(".csv") || path.ends_with(".tsv");
}

CellWriter::CellWriter(const std::string& path, const std::vector<std::string>& names)
    : output_(path), separator_(path.ends_with(".tsv") ? '\t' : ',') {
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
                                                    uint64_t seed) {
  return std::make_unique<TableFile>(path, variables, seed);
}

}  // namespace ort_ed
