#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/data/binarise.h"
#include "runtime/data/formats.h"

namespace ort_ed {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr int64_t kBlockBytes = int64_t{1} << 18;

template <typename T>
class ArrayRows : public RowReader {
 public:
  ArrayRows(InputStream stream, const ArrayLayout& layout, const RowOptions& options)
      : stream_(std::move(stream)),
        shape_(CheckedRowShape(stream_, layout)),
        big_endian_(layout.big_endian),
        binariser_(options, std::is_integral_v<T> && layout.type != CellType::kBool ? 255 : 1) {
    CheckWidth(stream_, shape_.columns, options);
  }

  int64_t columns() const override { return shape_.columns; }
  std::optional<int64_t> rows() const override { return shape_.rows; }

  int64_t Read(std::span<uint8_t> rows) override {
    const int64_t wanted = std::min(static_cast<int64_t>(rows.size()) / shape_.columns, shape_.rows - next_);
    int64_t done = 0;
    while (done < wanted) done += ReadBlock(wanted - done, rows.data() + done * shape_.columns);
    return done;
  }

 private:
  // Bytes are read straight to where they are wanted; wider cells through a block that stays in the cache.
  int64_t ReadBlock(int64_t rows, uint8_t* out) {
    T* cells;
    if constexpr (sizeof(T) == 1) {
      cells = reinterpret_cast<T*>(out);
    } else {
      const int64_t row_bytes = shape_.columns * static_cast<int64_t>(sizeof(T));
      rows = std::min(rows, std::max<int64_t>(1, kBlockBytes / row_bytes));
      block_.resize(static_cast<size_t>(std::max<int64_t>(rows, 1) * shape_.columns));
      cells = block_.data();
    }
    Fill(cells, rows);
    if (const auto bad = binariser_.Convert(cells, rows, shape_.columns, static_cast<uint64_t>(next_), out))
      FailCell(stream_, next_ + bad->row, bad->column, bad->why);
    next_ += rows;
    if (next_ == shape_.rows) CheckEnd();
    return rows;
  }

  void Fill(T* cells, int64_t rows) {
    const size_t bytes = static_cast<size_t>(rows * shape_.columns) * sizeof(T);
    const size_t got = stream_.Read(cells, bytes);
    if (got < bytes) {
      const auto whole = static_cast<int64_t>(got / (static_cast<size_t>(shape_.columns) * sizeof(T)));
      FailTruncated(stream_, shape_.rows, next_ + whole);
    }
    if (big_endian_) ReverseBytes(cells, rows * shape_.columns);
  }

  void CheckEnd() {
    CheckNothingFollows(stream_, shape_.rows);
    if (binariser_.SuspectsBinary())
      stream_.Fail("holds only 0 and 1 already, not grey levels from 0 to 255; read it without binarisation");
  }

  InputStream stream_;
  RowShape shape_;
  bool big_endian_;
  Binariser binariser_;
  std::vector<T> block_;
  int64_t next_ = 0;
};

template <typename T>
std::unique_ptr<RowReader> Make(InputStream stream, const ArrayLayout& layout, const RowOptions& options) {
  return std::make_unique<ArrayRows<T>>(std::move(stream), layout, options);
}

}  // namespace

std::unique_ptr<RowReader> OpenArrayRows(InputStream stream, const ArrayLayout& layout,
                                         const RowOptions& options) {
  return VisitCellType(layout.type,
                       [&]<typename T>(T) { return Make<T>(std::move(stream), layout, options); });
}

}  // namespace ort_ed
