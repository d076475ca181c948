#include "tools/jobs/tables/number_table.h"

#include <fmt/format.h>

#include "ort_ed/options.h"
#include "runtime/data/table/table_writer.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

class NumberTable : public RowWriter<float> {
 public:
  NumberTable(const std::string& path, std::vector<std::string> names, const TableRows& rows,
              const std::string& separator)
      : writer_(path, names, separator), rows_(rows), cells_(names.size()) {}

  void Write(std::span<const float> values) override {
    const size_t columns = cells_.size() - 1;
    for (size_t row = 0; row < values.size() / columns; ++row) {
      cells_[0] = NextId();
      for (size_t i = 0; i < columns; ++i) cells_[1 + i] = Decimal(values[row * columns + i]);
      writer_.Write(cells_);
    }
    writer_.FlushIfLive();
  }
  void Commit() override { writer_.Commit(); }

 private:
  // A job may hand over the rows of one Read() in several parts.
  const std::string& NextId() {
    if (block_end_ != rows_.rows_read()) {
      block_end_ = rows_.rows_read();
      next_ = 0;
    }
    return rows_.ids()[next_++];
  }

  CellWriter writer_;
  const TableRows& rows_;
  std::vector<std::string> cells_;
  int64_t block_end_ = 0;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter<float>> CreateNumberTable(const std::string& path, const ModelRows& rows,
                                                    const std::string& id, RowFileOptions options,
                                                    const std::string& output) {
  const std::string separator = rows.table == nullptr ? "" : std::string(1, rows.table->separator());
  if (id.empty()) {
    options.separator = SeparatorLike(separator);
    return CreateFloatFile(path, options);
  }
  if (!IsTableName(path))
    throw OptionError("id", fmt::format("is carried along in a table, and `{}` '{}' is none; name it .csv or "
                                        ".tsv",
                                        output, path));
  options.names.insert(options.names.begin(), id);
  return std::make_unique<NumberTable>(path, std::move(options.names), *rows.table, separator);
}

}  // namespace ort_ed
