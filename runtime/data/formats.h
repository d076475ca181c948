#pragma once

#include <memory>
#include <string>

#include "runtime/data/array_layout.h"
#include "runtime/data/input_stream.h"
#include "runtime/data/row_reader.h"

// The readers behind OpenRows(), one file each.
namespace ort_ed {

// Values of one type behind a header that was read already: .npy and IDX.
std::unique_ptr<RowReader> OpenArrayRows(InputStream stream, const ArrayLayout& layout,
                                         const RowOptions& options);
// Rows of numpy.packbits(axis=1), behind the header of a .npy file. `guessed`: from the width, not from the
// name.
std::unique_ptr<RowReader> OpenPackedRows(InputStream stream, const ArrayLayout& layout,
                                          const RowOptions& options, bool guessed);
// The same as OpenRows() of a file that is open already, at its beginning.
std::unique_ptr<RowReader> OpenRows(InputStream stream, const std::string& path, const RowOptions& options);
std::unique_ptr<RowReader> OpenTextRows(InputStream stream, const RowOptions& options);

// Reads the header of an IDX file and leaves the stream at the first value.
ArrayLayout ReadIdxHeader(InputStream& stream);

// Rows and columns of an array whose first axis counts the rows. Throws kBadData for a shape that cannot be,
// and for a file that is shorter or longer than its shape as far as that shows before it is read.
struct RowShape {
  int64_t rows;
  int64_t columns;
};
RowShape CheckedRowShape(const InputStream& stream, const ArrayLayout& layout);

// The rest finds what is wrong while reading; rows and columns are counted from 0 here and from 1 in
// messages.
void CheckWidth(const InputStream& stream, int64_t columns, const RowOptions& options);
void CheckNothingFollows(InputStream& stream, int64_t rows);
[[noreturn]] void FailTruncated(const InputStream& stream, int64_t rows_told, int64_t rows_found);
[[noreturn]] void FailCell(const InputStream& stream, int64_t row, int64_t column, const std::string& why);

}  // namespace ort_ed
