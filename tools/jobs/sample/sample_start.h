#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/energy_function.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Where chains that draw samples start, and what of it they keep. Chain c belongs to row c mod rows.
struct SampleStart {
  std::vector<uint8_t> states = {};   // rows x dimension
  std::vector<uint8_t> clamped = {};  // empty, or one row for all, or as states; 1: kept
  std::vector<uint8_t> missing =
      {};            // empty, or as states; 1: not given, to be drawn from the base distribution
  int64_t rows = 0;  // 0: no rows given
  // Of a table what the user wrote in the cells that are kept, rows x variables; empty where a cell is not,
  // or where there is no table.
  std::vector<std::string> cells = {};
  std::vector<std::string> ids = {};  // of each row, where a column was named that is carried along

  // For `chains` chains.
  std::vector<float> States(const BaseDistribution& base, int64_t chains, uint64_t seed) const;
  std::vector<uint8_t> Clamps(int64_t chains) const;
};

// `init`: a file of rows. `clamp`: with `init` a mask (one row, or one for each row of `init`; 1 keeps the
// value), without it rows with missing values, which are what is sampled. Rows may be tables of the
// variables, and `id` a column of theirs; tells of their values that the training did not have. Throws
// kBadData or kInvalidArgument.
SampleStart ReadSampleStart(const std::optional<std::string>& init, const std::optional<std::string>& clamp,
                            const Variables& variables, const std::string& id, JobResult& result,
                            Observer& observer);
// The same without a column to carry along, in silence.
SampleStart ReadSampleStart(const std::optional<std::string>& init, const std::optional<std::string>& clamp,
                            const Variables& variables);

}  // namespace ort_ed
