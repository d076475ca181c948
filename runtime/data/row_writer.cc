#include "runtime/data/row_writer.h"

#include <array>
#include <charconv>
#include <string_view>

#include "ort_ed/error.h"
#include "runtime/data/npy.h"
#include "runtime/data/output_stream.h"

namespace ort_ed {
namespace {

template <typename T>
class NpyWriter : public RowWriter<T> {
 public:
  NpyWriter(const std::string& path, const RowFileOptions& options)
      : output_(path), columns_(options.columns), row_shape_{options.columns} {
    if (options.vector) row_shape_.clear();
    output_.buffer() = Header();
  }

  void Write(std::span<const T> rows) override {
    output_.buffer().append(reinterpret_cast<const char*>(rows.data()), rows.size_bytes());
    rows_ += static_cast<int64_t>(rows.size()) / columns_;
    output_.FlushIfLarge();
  }
  void Commit() override { output_.Commit(Header()); }

 private:
  std::string Header() const { return NpyHeader(sizeof(T) == 1 ? "|u1" : "<f4", rows_, row_shape_); }

  OutputStream output_;
  int64_t columns_;
  std::vector<int64_t> row_shape_;
  int64_t rows_ = 0;
};

class PackedWriter : public RowWriter<uint8_t> {
 public:
  PackedWriter(const std::string& path, const RowFileOptions& options)
      : bytes_(path, {.columns = (options.columns + 7) / 8}),
        columns_(static_cast<size_t>(options.columns)) {}

  void Write(std::span<const uint8_t> rows) override {
    const size_t row_bytes = (columns_ + 7) / 8;
    packed_.assign(rows.size() / columns_ * row_bytes, 0);
    for (size_t row = 0; row < rows.size() / columns_; ++row)
      for (size_t i = 0; i < columns_; ++i)
        packed_[row * row_bytes + i / 8] |= static_cast<uint8_t>(rows[row * columns_ + i] << (7 - i % 8));
    bytes_.Write(packed_);
  }
  void Commit() override { bytes_.Commit(); }

 private:
  NpyWriter<uint8_t> bytes_;
  size_t columns_;
  std::vector<uint8_t> packed_;
};

template <typename T>
class TextWriter : public RowWriter<T> {
 public:
  TextWriter(const std::string& path, const RowFileOptions& options, char separator)
      : output_(path), columns_(static_cast<size_t>(options.columns)), separator_(separator) {
    for (size_t i = 0; i < options.names.size(); ++i) {
      output_.buffer() += QuoteCell(options.names[i], separator);
      output_.buffer() += i + 1 == options.names.size() ? '\n' : separator;
    }
  }

  void Write(std::span<const T> rows) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      Append(rows[i]);
      column_ = column_ + 1 == columns_ ? 0 : column_ + 1;
      output_.buffer() += column_ == 0 ? '\n' : separator_;
      if (column_ == 0) output_.FlushIfLarge();
    }
    output_.FlushIfLive();
  }
  void Commit() override { output_.Commit(); }

 private:
  void Append(T value) {
    std::array<char, 32> text;
    const char* end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    output_.buffer().append(text.data(), static_cast<size_t>(end - text.data()));
  }

  OutputStream output_;
  size_t columns_;
  char separator_;
  size_t column_ = 0;
};

void CheckOptions(const RowFileOptions& options) {
  if (options.columns < 1 || (options.vector && options.columns != 1) ||
      (!options.names.empty() && static_cast<int64_t>(options.names.size()) != options.columns))
    throw Error(ErrorCode::kInvalidArgument, "a file of " + std::to_string(options.columns) +
                                                 " columns and " + std::to_string(options.names.size()) +
                                                 " column names cannot be written");
}

template <typename T>
std::unique_ptr<RowWriter<T>> CreateFile(const std::string& path, const RowFileOptions& options) {
  CheckOptions(options);
  if (path.ends_with(".npy")) return std::make_unique<NpyWriter<T>>(path, options);
  if (path == "-" || path.ends_with(".csv"))
    return std::make_unique<TextWriter<T>>(path, options, options.separator);
  if (path.ends_with(".tsv")) return std::make_unique<TextWriter<T>>(path, options, '\t');
  const std::string packed = sizeof(T) == 1 ? ".bits.npy, " : "";
  throw Error(ErrorCode::kInvalidArgument, "'" + path + "' tells no known format; end the name in .npy, " +
                                               packed +
                                               ".csv or .tsv, or write CSV to the standard output with -");
}

}  // namespace

std::unique_ptr<RowWriter<uint8_t>> CreateBitFile(const std::string& path, const RowFileOptions& options) {
  if (!path.ends_with(".bits.npy")) return CreateFile<uint8_t>(path, options);
  CheckOptions(options);
  return std::make_unique<PackedWriter>(path, options);
}

std::unique_ptr<RowWriter<float>> CreateFloatFile(const std::string& path, const RowFileOptions& options) {
  if (!path.ends_with(".bits.npy")) return CreateFile<float>(path, options);
  throw Error(ErrorCode::kInvalidArgument,
              "'" + path + "' would hold packed bits, but there are real numbers to write; name it .npy");
}

}  // namespace ort_ed
