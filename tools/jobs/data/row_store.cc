#include "tools/jobs/data/row_store.h"

#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {
namespace {

constexpr uint32_t kOrderPurpose = 0x4F524452;  // "ORDR"

class EpochRows : public RowSource {
 public:
  EpochRows(RowStore store, std::vector<uint32_t> members, uint64_t seed)
      : store_(std::move(store)), members_(std::move(members)), seed_(seed) {}

  int64_t columns() const override { return store_.columns(); }

  void Draw(int64_t n, std::span<uint8_t> bits) override {
    const auto size = static_cast<int64_t>(members_.size());
    if (n / size != epoch_) StartEpoch(n / size);
    store_.Get(order_[static_cast<size_t>(n % size)], seed_, static_cast<uint64_t>(epoch_), bits);
  }

 private:
  void StartEpoch(int64_t epoch) {
    epoch_ = epoch;
    order_ = members_;
    Shuffle(order_, seed_, static_cast<uint64_t>(epoch) + 1);
  }

  RowStore store_;
  std::vector<uint32_t> members_;
  uint64_t seed_;
  int64_t epoch_ = -1;
  std::vector<uint32_t> order_;
};

}  // namespace

void RowStore::Append(std::span<const uint8_t> rows) {
  const auto width = static_cast<size_t>(columns_);
  rows_ += static_cast<int64_t>(rows.size() / width);
  if (rows_ > int64_t{UINT32_MAX})
    throw Error(ErrorCode::kBadData, "more than 4294967295 rows; train on a part of them");
  if (grey_) {
    bytes_.insert(bytes_.end(), rows.begin(), rows.end());
    return;
  }
  for (; !rows.empty(); rows = rows.subspan(width)) {
    const size_t start = bytes_.size();
    bytes_.resize(start + RowBytes());
    for (size_t i = 0; i < width; ++i) bytes_[start + i / 8] |= static_cast<uint8_t>(rows[i] << (7 - i % 8));
  }
}

void RowStore::Get(int64_t row, uint64_t seed, uint64_t pass, std::span<uint8_t> bits) const {
  const uint8_t* bytes = bytes_.data() + static_cast<size_t>(row) * RowBytes();
  if (grey_) {
    BinariseGrey({bytes, RowBytes()}, seed, pass, static_cast<uint64_t>(row), bits);
  } else {
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = bytes[i / 8] >> (7 - i % 8) & 1;
  }
}

void RowStore::AddTo(int64_t row, std::span<double> sums) const {
  const uint8_t* bytes = bytes_.data() + static_cast<size_t>(row) * RowBytes();
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += grey_ ? bytes[i] / 255.0 : bytes[i / 8] >> (7 - i % 8) & 1;
}

std::string RowStore::Hash() const {
  const auto crc = crc32_z(0, bytes_.data(), bytes_.size());
  return fmt::format("{}x{}{}:{:08x}", rows_, columns_, grey_ ? " grey" : "", crc);
}

void Shuffle(std::vector<uint32_t>& order, uint64_t seed, uint64_t step) {
  RandomStream random(seed, kOrderPurpose, step, 0);
  for (auto i = static_cast<uint32_t>(order.size()); i > 1; --i)
    std::swap(order[i - 1], order[random.Below(i)]);
}

std::unique_ptr<RowSource> ShuffledRows(RowStore store, std::vector<uint32_t> members, uint64_t seed) {
  return std::make_unique<EpochRows>(std::move(store), std::move(members), seed);
}

}  // namespace ort_ed
