#include "runtime/data/formats.h"
#include "runtime/support/limits.h"

namespace ort_ed {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

}  // namespace

RowShape CheckedRowShape(const InputStream& stream, const ArrayLayout& layout) {
  const std::vector<int64_t>& shape = layout.shape;
  if (shape.empty()) stream.Fail("holds a single number, not an array; rows x columns are expected");
  if (shape[0] == 0) stream.Fail("has no rows");
  int64_t columns = 1;
  int64_t bytes = 0;
  bool impossible = false;
  for (size_t axis = 1; axis < shape.size(); ++axis)
    impossible |= __builtin_mul_overflow(columns, shape[axis], &columns);
  if (!impossible && columns == 0) stream.Fail("has rows without values (shape " + ShapeText(shape) + ")");
  if (!impossible && columns > kMaxColumns)
    stream.Fail("tells rows of " + std::to_string(columns) + " values in its header; at most " +
                std::to_string(kMaxColumns) + " are possible");
  impossible |= __builtin_mul_overflow(columns, shape[0], &bytes) ||
                __builtin_mul_overflow(bytes, CellBytes(layout.type), &bytes);
  if (impossible)
    stream.Fail("tells an impossible shape in its header (" + ShapeText(shape) + "); the file is damaged");
  const std::optional<uint64_t> remaining = stream.remaining();
  if (remaining && *remaining < static_cast<uint64_t>(bytes))
    FailTruncated(stream, shape[0], static_cast<int64_t>(*remaining) / (bytes / shape[0]));
  return {shape[0], columns};
}

void CheckWidth(const InputStream& stream, int64_t columns, const RowOptions& options) {
  if (options.columns != 0 && columns != options.columns)
    stream.Fail("has " + std::to_string(columns) + " columns; " + std::to_string(options.columns) +
                " are expected");
}

void CheckNothingFollows(InputStream& stream, int64_t rows) {
  if (!stream.Peek(1).empty())
    stream.Fail("has bytes behind the last of its " + std::to_string(rows) +
                " rows; the file is damaged, or more than one array was written to it");
}

void FailTruncated(const InputStream& stream, int64_t rows_told, int64_t rows_found) {
  stream.Fail("is cut off: its header tells " + std::to_string(rows_told) + " rows, but it ends in row " +
              std::to_string(rows_found + 1) + "; write or copy it again");
}

void FailCell(const InputStream& stream, int64_t row, int64_t column, const std::string& why) {
  stream.Fail("row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) + " " + why);
}

}  // namespace ort_ed
