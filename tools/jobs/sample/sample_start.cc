#include "tools/jobs/sample/sample_start.h"

#include <algorithm>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/tables/model_rows.h"

namespace ort_ed {
namespace {

// A value for each variable as one for each of its bits.
std::vector<uint8_t> SpreadOverBits(const std::vector<uint8_t>& mask, const Variables& variables) {
  std::vector<uint8_t> bits;
  for (size_t i = 0; i < mask.size(); ++i)
    bits.insert(bits.end(), static_cast<size_t>(variables.bits(static_cast<int64_t>(i) % variables.size())),
                mask[i]);
  return bits;
}

// A mask has a value for each variable, or for each bit; one row of it may be stored as a vector.
std::vector<uint8_t> ReadMask(const std::string& path, int64_t rows, const Variables& variables) {
  const int64_t dimension = variables.dimension();
  RowTable mask = ReadRows(path);
  if (mask.columns == 1 && (mask.rows == dimension || mask.rows == variables.size()))
    std::swap(mask.rows, mask.columns);
  const bool right_rows = mask.rows == 1 || mask.rows == rows;
  if (right_rows && mask.columns == dimension) return std::move(mask.values);
  if (right_rows && mask.columns == variables.size()) return SpreadOverBits(mask.values, variables);
  throw Error(
      ErrorCode::kBadData,
      fmt::format("the mask '{}' has {} rows of {} values; it needs {} values in one row, or in one for "
                  "each of the {} starting rows",
                  path, mask.rows, mask.columns, variables.size(), rows));
}

// Chains without a free variable have nothing to do.
void RequireFree(const std::vector<uint8_t>& clamped, const std::string& why, const std::string& advice) {
  if (std::ranges::find(clamped, 0) == clamped.end())
    throw Error(ErrorCode::kBadData, fmt::format("{}, so there is nothing to sample; {}", why, advice));
}

SampleStart ReadWithMissing(const std::string& path, const Variables& variables) {
  RowTable table = ReadModelRows(path, variables, {.columns = variables.dimension(), .allow_missing = true});
  SampleStart start{.states = std::move(table.values), .clamped = {}, .missing = {}, .rows = table.rows};
  for (uint8_t& value : start.states) {
    start.missing.push_back(value == kMissingValue ? 1 : 0);
    start.clamped.push_back(value == kMissingValue ? 0 : 1);
    if (value == kMissingValue) value = 0;
  }
  RequireFree(
      start.clamped, fmt::format("'{}' has no missing value", path),
      "leave the cells empty (or NaN) that are to be filled, or, if it is a mask, give the rows that it "
      "belongs to (init)");
  return start;
}

}  // namespace

std::vector<float> SampleStart::States(const BaseDistribution& base, int64_t chains, uint64_t seed) const {
  const int64_t dimension = base.dimension();
  std::vector<float> result = base.DrawRows(seed, 0, chains);
  if (rows == 0) return result;
  for (int64_t chain = 0; chain < chains; ++chain) {
    for (int64_t i = 0; i < dimension; ++i) {
      const int64_t given = chain % rows * dimension + i;
      if (missing.empty() || missing[given] == 0) result[chain * dimension + i] = states[given];
    }
  }
  return result;
}

std::vector<uint8_t> SampleStart::Clamps(int64_t chains) const {
  if (clamped.size() < states.size()) return clamped;
  const int64_t dimension = std::ssize(clamped) / std::max<int64_t>(1, rows);
  std::vector<uint8_t> result;
  for (int64_t chain = 0; rows > 0 && chain < chains; ++chain) {
    const auto row = clamped.begin() + chain % rows * dimension;
    result.insert(result.end(), row, row + dimension);
  }
  return result;
}

SampleStart ReadSampleStart(const std::optional<std::string>& init, const std::optional<std::string>& clamp,
                            const Variables& variables) {
  if (!init) return clamp ? ReadWithMissing(*clamp, variables) : SampleStart{};
  const int64_t dimension = variables.dimension();
  RowTable table = ReadModelRows(*init, variables, {.columns = dimension});
  SampleStart start{.states = std::move(table.values), .clamped = {}, .missing = {}, .rows = table.rows};
  if (clamp) {
    start.clamped = ReadMask(*clamp, start.rows, variables);
    RequireFree(start.clamped, fmt::format("the mask '{}' keeps every value", *clamp),
                "put 0 where a value is to be drawn");
  }
  return start;
}

}  // namespace ort_ed
