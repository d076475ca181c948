#include "tools/jobs/data/dataset.h"

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <zlib.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "runtime/data/planar.h"

namespace ort_ed {
namespace {

constexpr uint32_t kOrderPurpose = 0x4F524452;               // "ORDR"
constexpr uint64_t kSplitStep = 0;                           // epochs are the steps from 1
constexpr uint64_t kValidationSeed = 0x76616C6964617465ULL;  // "validate"
constexpr int64_t kRowsForMean = 10000;                      // of an endless source
constexpr size_t kReadBytes = 1 << 20;
constexpr char kSynthPrefix[] = "synth:";

void Shuffle(std::vector<uint32_t>& order, uint64_t seed, uint64_t step) {
  RandomStream random(seed, kOrderPurpose, step, 0);
  for (auto i = static_cast<uint32_t>(order.size()); i > 1; --i)
    std::swap(order[i - 1], order[random.Below(i)]);
}

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

class PlanarRows : public RowSource {
 public:
  PlanarRows(const PlanarDensity& density, uint64_t seed) : density_(density), seed_(seed) {}
  int64_t columns() const override { return PlanarCode::kBits; }
  void Draw(int64_t n, std::span<uint8_t> bits) override {
    DrawPlanarRows(density_, seed_, static_cast<uint64_t>(n), bits);
  }

 private:
  const PlanarDensity& density_;
  uint64_t seed_;
};

RowOptions ReadOptions(const TrainConfig& config, int64_t columns) {
  RowOptions options;
  options.columns = columns;
  options.threshold = static_cast<float>(config.threshold);
  options.seed = static_cast<uint64_t>(config.seed);
  options.binarise = config.binarise == "threshold" ? Binarise::kThreshold
                     : config.binarise == "once"    ? Binarise::kStochastic
                     : config.binarise == "dynamic" ? Binarise::kGrey
                                                    : Binarise::kStrict;
  return options;
}

RowStore ReadStore(const std::string& path, const RowOptions& options) {
  const auto reader = OpenRows(path, options);
  RowStore store(reader->columns(), options.binarise == Binarise::kGrey);
  const auto width = static_cast<size_t>(reader->columns());
  std::vector<uint8_t> block(std::max<size_t>(1, kReadBytes / width) * width);
  while (const int64_t rows = reader->Read(block))
    store.Append(std::span(block).first(static_cast<size_t>(rows) * width));
  return store;
}

// What is validated on is drawn once, so that its losses can be compared.
RowTable Pick(const RowStore& store, std::span<const uint32_t> members, uint64_t seed) {
  RowTable table{.rows = static_cast<int64_t>(members.size()), .columns = store.columns(), .values = {}};
  const auto width = static_cast<size_t>(table.columns);
  table.values.resize(members.size() * width);
  for (size_t i = 0; i < members.size(); ++i)
    store.Get(members[i], seed, 0, std::span(table.values).subspan(i * width, width));
  return table;
}

void ReadValidation(const TrainConfig& config, int64_t columns, Dataset& dataset) {
  const RowStore store = ReadStore(config.validation, ReadOptions(config, columns));
  std::vector<uint32_t> order(static_cast<size_t>(store.rows()));
  std::iota(order.begin(), order.end(), 0u);
  const uint64_t seed = static_cast<uint64_t>(config.seed) ^ kValidationSeed;
  Shuffle(order, seed, kSplitStep);  // a sorted file must not give rows of one kind only
  order.resize(std::min<size_t>(order.size(), static_cast<size_t>(config.validation_rows)));
  dataset.validation = Pick(store, order, seed);
  dataset.hash += ", validated on " + store.Hash();
}

std::vector<double> MeanOf(const RowStore& store, std::span<const uint32_t> members) {
  std::vector<double> mean(static_cast<size_t>(store.columns()));
  for (const uint32_t row : members) store.AddTo(row, mean);
  for (double& value : mean) value /= static_cast<double>(members.size());
  return mean;
}

Dataset FromStore(RowStore store, const TrainConfig& config) {
  const auto seed = static_cast<uint64_t>(config.seed);
  std::vector<uint32_t> members(static_cast<size_t>(store.rows()));
  std::iota(members.begin(), members.end(), 0u);
  Dataset dataset;
  dataset.hash = store.Hash();
  if (!config.validation.empty()) {
    ReadValidation(config, store.columns(), dataset);
  } else if (config.validation_fraction > 0) {
    Shuffle(members, seed, kSplitStep);
    const auto fraction =
        static_cast<size_t>(config.validation_fraction * static_cast<double>(members.size()));
    const auto held_out = std::min(fraction, static_cast<size_t>(config.validation_rows));
    dataset.validation = Pick(store, std::span(members).first(held_out), seed ^ kValidationSeed);
    members.erase(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(held_out));
  }
  dataset.training_rows = static_cast<int64_t>(members.size());
  dataset.mean = MeanOf(store, members);
  dataset.training = ShuffledRows(std::move(store), std::move(members), seed);
  return dataset;
}

const PlanarDensity* PlanarDensityCalled(const std::string& name) {
  for (const PlanarDensity& density : PlanarDensities())
    if (name == density.name) return &density;
  return nullptr;
}

// Of synthetic rows; `wanted` is 0 where any number will do.
void RequireColumns(const TrainConfig& config, int64_t columns, int64_t wanted) {
  if (wanted != 0 && columns != wanted)
    config.Reject("data",
                  fmt::format("its rows have {} variables, not the {} that are needed", columns, wanted));
}

Dataset FromPlanar(const PlanarDensity& density, const TrainConfig& config, int64_t columns) {
  RequireColumns(config, PlanarCode::kBits, columns);
  const auto seed = static_cast<uint64_t>(config.seed);
  Dataset dataset;
  dataset.hash = config.data;
  dataset.training = std::make_unique<PlanarRows>(density, seed);
  if (!config.validation.empty()) {
    ReadValidation(config, PlanarCode::kBits, dataset);
  } else if (config.validation_fraction > 0) {
    dataset.validation = {.rows = config.validation_rows, .columns = PlanarCode::kBits, .values = {}};
    dataset.validation.values.resize(static_cast<size_t>(config.validation_rows * PlanarCode::kBits));
    DrawPlanarRows(density, seed ^ kValidationSeed, 0, dataset.validation.values);
  }
  std::vector<uint8_t> row(PlanarCode::kBits);
  dataset.mean.resize(row.size());
  for (int64_t n = 0; n < kRowsForMean; ++n) {
    dataset.training->Draw(n, row);
    for (size_t i = 0; i < row.size(); ++i) dataset.mean[i] += row[i] / static_cast<double>(kRowsForMean);
  }
  return dataset;
}

RowStore DrawStore(const TrainConfig& config, const std::string& name, const SynthHook& synth) {
  try {
    return synth(name, static_cast<uint64_t>(config.seed));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    config.Reject("data", error.what());
  }
}

[[noreturn]] void RejectSynth(const TrainConfig& config) {
  std::string names;
  for (const PlanarDensity& density : PlanarDensities())
    names += fmt::format(" {}{}", kSynthPrefix, density.name);
  config.Reject("data", "there is no such synthetic data; there is" + names);
}

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

std::unique_ptr<RowSource> ShuffledRows(RowStore store, std::vector<uint32_t> members, uint64_t seed) {
  return std::make_unique<EpochRows>(std::move(store), std::move(members), seed);
}

Dataset OpenDataset(const TrainConfig& config, int64_t columns, const SynthHook& synth) {
  if (config.data.empty()) config.Reject("data", "name a file of rows, or synth:NAME");
  if (!config.data.starts_with(kSynthPrefix))
    return FromStore(ReadStore(config.data, ReadOptions(config, columns)), config);
  const std::string name = config.data.substr(sizeof(kSynthPrefix) - 1);
  if (const PlanarDensity* density = PlanarDensityCalled(name)) return FromPlanar(*density, config, columns);
  if (!synth) RejectSynth(config);
  RowStore store = DrawStore(config, name, synth);
  RequireColumns(config, store.columns(), columns);
  return FromStore(std::move(store), config);
}

}  // namespace ort_ed
