#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/data/formats.h"

namespace ort_ed {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 16;

// The eight bits of every byte, most significant first.
constexpr std::array<std::array<uint8_t, 8>, 256> kBitsOfByte = [] {
  std::array<std::array<uint8_t, 8>, 256> table{};
  for (size_t byte = 0; byte < 256; ++byte)
    for (size_t bit = 0; bit < 8; ++bit) table[byte][bit] = byte >> (7 - bit) & 1;
  return table;
}();

class PackedRows : public RowReader {
 public:
  PackedRows(InputStream stream, const ArrayLayout& layout, const RowOptions& options, bool guessed)
      : stream_(std::move(stream)),
        guessed_(guessed),
        shape_(CheckedRowShape(stream_, layout)),
        columns_(options.columns != 0 ? options.columns : 8 * shape_.columns),
        one_(options.binarise == Binarise::kGrey ? 255 : 1) {
    if ((columns_ + 7) / 8 != shape_.columns)
      stream_.Fail("has " + std::to_string(shape_.columns) + " bytes of packed bits per row; " +
                   std::to_string(columns_) + " columns would need " + std::to_string((columns_ + 7) / 8));
  }

  int64_t columns() const override { return columns_; }
  std::optional<int64_t> rows() const override { return shape_.rows; }

  int64_t Read(std::span<uint8_t> rows) override {
    const int64_t wanted = std::min(static_cast<int64_t>(rows.size()) / columns_, shape_.rows - next_);
    int64_t done = 0;
    while (done < wanted) done += ReadBlock(wanted - done, rows.data() + done * columns_);
    if (one_ != 1)
      for (uint8_t& value : rows.first(static_cast<size_t>(done * columns_))) value *= one_;
    return done;
  }

 private:
  int64_t ReadBlock(int64_t rows, uint8_t* out) {
    rows = std::min(rows, std::max<int64_t>(1, kBlockBytes / shape_.columns));
    block_.resize(static_cast<size_t>(rows * shape_.columns));
    const size_t got = stream_.Read(block_.data(), block_.size());
    if (got < block_.size())
      FailTruncated(stream_, shape_.rows, next_ + static_cast<int64_t>(got) / shape_.columns);
    for (int64_t row = 0; row < rows; ++row, ++next_)
      Unpack(block_.data() + row * shape_.columns, out + row * columns_);
    for (const uint8_t byte : block_) bytes_seen_ |= byte;
    if (next_ == shape_.rows) CheckEnd();
    return rows;
  }

  // Bytes of 0 and 1 only are hardly packed bits: more likely a file of another width.
  void CheckEnd() {
    CheckNothingFollows(stream_, shape_.rows);
    if (guessed_ && bytes_seen_ <= 1)
      stream_.Fail("has " + std::to_string(shape_.columns) + " columns of 0 and 1; " +
                   std::to_string(columns_) +
                   " are expected (if these are packed bits, name the file .bits.npy)");
  }

  void Unpack(const uint8_t* bytes, uint8_t* out) {
    const int64_t whole = columns_ / 8;
    const auto rest = static_cast<size_t>(columns_ % 8);
    for (int64_t i = 0; i < whole; ++i) std::memcpy(out + 8 * i, kBitsOfByte[bytes[i]].data(), 8);
    if (rest == 0) return;
    const uint8_t last = bytes[whole];
    std::memcpy(out + 8 * whole, kBitsOfByte[last].data(), rest);
    if ((last << rest & 0xff) != 0)
      stream_.Fail("row " + std::to_string(next_ + 1) + " has padding bits that are not 0 behind column " +
                   std::to_string(columns_) + "; is the number of columns right?");
  }

  InputStream stream_;
  bool guessed_;
  RowShape shape_;
  int64_t columns_;
  uint8_t one_;
  std::vector<uint8_t> block_;
  uint8_t bytes_seen_ = 0;  // the union of their bits
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> OpenPackedRows(InputStream stream, const ArrayLayout& layout,
                                          const RowOptions& options, bool guessed) {
  if (layout.type != CellType::kUint8 || layout.shape.size() != 2)
    stream.Fail("is not packed bits: a 2-D uint8 array as of numpy.packbits(axis=1) is expected");
  return std::make_unique<PackedRows>(std::move(stream), layout, options, guessed);
}

}  // namespace ort_ed
