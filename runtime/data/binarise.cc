#include "runtime/data/binarise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>

#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kBinarisePurpose = 0x42494e41;

// A uniform 32-bit number is below this with probability `level`.
uint64_t BelowWithProbability(double level) { return static_cast<uint64_t>(level * 0x1.0p32 + 0.5); }

constexpr std::array<uint64_t, 256> kBelowWithGrey = [] {
  std::array<uint64_t, 256> table{};
  for (uint64_t grey = 0; grey < 256; ++grey) table[grey] = ((grey << 32) + 127) / 255;
  return table;
}();

template <typename T>
std::string Text(T value) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace

void BinariseGrey(std::span<const uint8_t> grey, uint64_t seed, uint64_t pass, uint64_t row,
                  std::span<uint8_t> bits) {
  RandomStream random(seed, kBinarisePurpose, pass, row);
  for (size_t i = 0; i < grey.size(); ++i) bits[i] = random.Next32() < kBelowWithGrey[grey[i]];
}

Binariser::Binariser(const RowOptions& options, double one) : options_(options), one_(one) {
  if (options.allow_missing && options.binarise != Binarise::kStrict)
    throw Error(ErrorCode::kInvalidArgument,
                "missing values can only be read from data that is not binarised");
  if (!(options.threshold >= 0 && options.threshold <= 1))
    throw Error(ErrorCode::kInvalidArgument,
                "the threshold is " + Text(options.threshold) + "; it must lie between 0 and 1");
}

// Integers are checked all at once by the union of their bits: with a 0/1 file this is the whole cost of
// reading.
template <typename T>
bool Binariser::Strict(const T* cells, int64_t count, uint8_t* out) const {
  if constexpr (std::integral<T>) {
    std::make_unsigned_t<T> bits = 0;
    for (int64_t i = 0; i < count; ++i) {
      bits |= static_cast<std::make_unsigned_t<T>>(cells[i]);
      out[i] = static_cast<uint8_t>(cells[i]);
    }
    return bits <= 1;
  } else {
    bool good = true;
    for (int64_t i = 0; i < count; ++i) {
      const T value = cells[i];
      const bool missing = options_.allow_missing & (value != value);
      good &= (value == 0) | (value == 1) | missing;
      out[i] = missing ? kMissingValue : static_cast<uint8_t>(value == 1);
    }
    return good;
  }
}

template <typename T>
bool Binariser::InRange(const T* cells, int64_t count) {
  T lowest = 0;
  T highest = 0;
  bool nan = false;
  for (int64_t i = 0; i < count; ++i) {
    lowest = std::min(lowest, cells[i]);
    highest = std::max(highest, cells[i]);
    nan |= cells[i] != cells[i];
  }
  highest_ = std::max(highest_, static_cast<double>(highest));
  return !nan && lowest >= 0 && static_cast<double>(highest) <= one_;
}

template <typename T>
void Binariser::FromLevels(const T* cells, int64_t count, uint64_t row, uint8_t* out) const {
  const double scale = 1 / one_;
  if (options_.binarise == Binarise::kThreshold) {
    // In the threshold's own precision: a cell written 0.4 is at the threshold 0.4.
    const float cut = options_.threshold * static_cast<float>(one_);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(cells[i]) >= cut;
  } else if (options_.binarise == Binarise::kGrey) {
    const double to_grey = 255 / one_;
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<uint8_t>(static_cast<double>(cells[i]) * to_grey + 0.5);
  } else if (std::integral<T> && one_ == 255) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(cells[i]);
    const std::span<uint8_t> bits(out, static_cast<size_t>(count));
    BinariseGrey(bits, options_.seed, options_.pass, row, bits);
  } else {
    RandomStream random(options_.seed, kBinarisePurpose, options_.pass, row);
    for (int64_t i = 0; i < count; ++i)
      out[i] = random.Next32() < BelowWithProbability(static_cast<double>(cells[i]) * scale);
  }
}

template <typename T>
bool Binariser::Acceptable(T value) const {
  if (value != value) return options_.allow_missing;
  if (options_.binarise == Binarise::kStrict) return value == 0 || value == 1;
  return value >= 0 && static_cast<double>(value) <= one_;
}

template <typename T>
std::string Binariser::Explain(T value) const {
  if (value != value) return "is NaN; replace or remove the row";
  const std::string is = "is " + Text(value) + "; ";
  if (options_.binarise == Binarise::kStrict)
    return is + "only 0 and 1 are allowed: correct it, or binarise grey levels (--binarise)";
  if (one_ > 1) return is + "grey levels are from 0 to 255";
  return is + "levels of floating-point data are from 0 to 1: divide by the largest first";
}

template <typename T>
std::optional<BadCell> Binariser::Convert(const T* cells, int64_t rows, int64_t columns, uint64_t first_row,
                                          uint8_t* out) {
  // Cells may be overwritten by `out` (bytes only), but Strict keeps the bytes as they are and InRange writes
  // nothing, so that a bad one is still found.
  if (options_.binarise == Binarise::kStrict) {
    if (Strict(cells, rows * columns, out)) return std::nullopt;
  } else if (InRange(cells, rows * columns)) {
    for (int64_t row = 0; row < rows; ++row)
      FromLevels(cells + row * columns, columns, first_row + static_cast<uint64_t>(row), out + row * columns);
    return std::nullopt;
  }
  const T* bad = std::find_if(cells, cells + rows * columns, [&](T cell) { return !Acceptable(cell); });
  return BadCell{(bad - cells) / columns, (bad - cells) % columns, Explain(*bad)};
}

#define ORT_ED_INSTANTIATE(T) \
  template std::optional<BadCell> Binariser::Convert(const T*, int64_t, int64_t, uint64_t, uint8_t*);
ORT_ED_INSTANTIATE(uint8_t)
ORT_ED_INSTANTIATE(int8_t)
ORT_ED_INSTANTIATE(uint16_t)
ORT_ED_INSTANTIATE(int16_t)
ORT_ED_INSTANTIATE(uint32_t)
ORT_ED_INSTANTIATE(int32_t)
ORT_ED_INSTANTIATE(uint64_t)
ORT_ED_INSTANTIATE(int64_t)
ORT_ED_INSTANTIATE(float)
ORT_ED_INSTANTIATE(double)
#undef ORT_ED_INSTANTIATE

}  // namespace ort_ed
