#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/row_reader.h"
#include "tools/jobs/train/train_config.h"

namespace ort_ed {

// An endless sequence of rows to train on. Row n is a pure function of n, so that a resumed run needs to know
// nothing but its step. Not thread-safe; ascending n is the fast order.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t columns() const = 0;
  virtual void Draw(int64_t n, std::span<uint8_t> bits) = 0;  // columns() values 0/1
};

// Rows in memory, packed to bits, or grey levels of which every draw makes new bits.
class RowStore {
 public:
  RowStore(int64_t columns, bool grey) : columns_(columns), grey_(grey) {}

  void Append(std::span<const uint8_t> rows);  // values 0/1, or grey levels 0..255; whole rows
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // Bits of a row; of a grey row, those that (seed, pass) draws.
  void Get(int64_t row, uint64_t seed, uint64_t pass, std::span<uint8_t> bits) const;
  void AddTo(int64_t row, std::span<double> sums) const;  // values of the row in [0, 1]
  std::string Hash() const;

 private:
  size_t RowBytes() const { return static_cast<size_t>(grey_ ? columns_ : (columns_ + 7) / 8); }

  int64_t columns_;
  bool grey_;
  int64_t rows_ = 0;
  std::vector<uint8_t> bytes_;
};

// Goes through `members` of a store again and again, each epoch in a new order, a pure function of the seed
// and the epoch. Every epoch draws new bits of grey rows.
std::unique_ptr<RowSource> ShuffledRows(RowStore store, std::vector<uint32_t> members, uint64_t seed);

struct Dataset {
  std::unique_ptr<RowSource> training;
  int64_t training_rows = 0;  // 0: endless
  RowTable validation;        // 0/1; no rows: nothing to validate on
  std::vector<double> mean;   // of the training rows
  std::string hash;           // of the training rows
};

// Makes the rows of synth:NAME for names that the trainer itself does not know: those that need a sampler.
// Throws kInvalidArgument for a name it does not know either, listing its own.
using SynthHook = std::function<RowStore(const std::string& name, uint64_t seed)>;

// Opens, splits and summarises what the configuration names. `columns`: the width that the model needs, 0 if
// any. Throws kIo, kBadData and kInvalidArgument.
Dataset OpenDataset(const TrainConfig& config, int64_t columns, const SynthHook& synth = nullptr);

}  // namespace ort_ed
