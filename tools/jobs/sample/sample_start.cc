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

// The rows of a file and, of a table, its cells.
SampleStart ReadStart(const std::string& path, const Variables& variables, bool allow_missing,
                      const std::string& id, JobResult& result, Observer& observer) {
  const ModelRows rows =
      OpenModelRows(path, variables, {.columns = variables.dimension(), .allow_missing = allow_missing},
                    {.id = id, .keep_cells = true});
  SampleStart start;
  constexpr int64_t kBlock = 1024;
  std::vector<uint8_t> block(static_cast<size_t>(kBlock * rows.reader->columns()));
  while (const int64_t count = rows.reader->Read(block)) {
    start.states.insert(start.states.end(), block.begin(), block.begin() + count * rows.reader->columns());
    start.rows += count;
    if (rows.table == nullptr) continue;
    start.cells.insert(start.cells.end(), rows.table->cells().begin(), rows.table->cells().end());
    start.ids.insert(start.ids.end(), rows.table->ids().begin(), rows.table->ids().end());
  }
  TellOfStrangers(rows, path, result, observer);
  return start;
}

// What the mask gives free is not the user's any more.
void ForgetFreeCells(const Variables& variables, SampleStart& start) {
  const bool one_for_all = start.clamped.size() < start.states.size();
  for (size_t i = 0; i < start.cells.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / variables.size(),
               v = static_cast<int64_t>(i) % variables.size();
    const bool kept =
        !start.clamped.empty() &&
        start.clamped[(one_for_all ? 0 : row) * variables.dimension() + variables.first_bit(v)] != 0;
    if (!kept) start.cells[i].clear();
  }
}

SampleStart ReadWithMissing(const std::string& path, const Variables& variables, const std::string& id,
                            JobResult& result, Observer& observer) {
  SampleStart start = ReadStart(path, variables, /*allow_missing=*/true, id, result, observer);
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
                            const Variables& variables, const std::string& id, JobResult& result,
                            Observer& observer) {
  if (!init) return clamp ? ReadWithMissing(*clamp, variables, id, result, observer) : SampleStart{};
  SampleStart start = ReadStart(*init, variables, /*allow_missing=*/false, id, result, observer);
  if (clamp) {
    start.clamped = ReadMask(*clamp, start.rows, variables);
    RequireFree(start.clamped, fmt::format("the mask '{}' keeps every value", *clamp),
                "put 0 where a value is to be drawn");
  }
  ForgetFreeCells(variables, start);
  return start;
}

SampleStart ReadSampleStart(const std::optional<std::string>& init, const std::optional<std::string>& clamp,
                            const Variables& variables) {
  JobResult unread;
  Observer nobody;
  return ReadSampleStart(init, clamp, variables, "", unread, nobody);
}

}  // namespace ort_ed
