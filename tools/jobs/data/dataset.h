#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ort_ed/options.h"
#include "ort_ed/variables.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/data/row_source.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/tables/guess_variables.h"
#include "tools/jobs/tables/table_options.h"

namespace ort_ed {

// What to train and to validate on.
struct DataOptions {
  std::string data;
  std::string validation;
  double validation_fraction = 0.1;
  int64_t validation_rows = 1000;
  Binarise binarise = Binarise::kStrict;
  double threshold = 0.5;
  TableOptions table = {};

  static void Describe(Declare<DataOptions>& declare);
};

struct Dataset {
  std::unique_ptr<RowSource> training;
  int64_t training_rows = 0;                      // 0: endless
  RowTable validation;                            // 0/1; no rows: nothing to validate on
  std::vector<double> mean;                       // of the training rows
  std::string hash;                               // of the training rows
  Variables variables = {};                       // of a table; else not described
  std::vector<TableGuess::Dropped> dropped = {};  // columns of the table
  std::vector<std::string> warnings = {};         // which the observer has heard
};

// Opens, splits and summarises what the options name. `columns`: the width that the model needs; 0: that of
// the options, or any. `known`: the variables of the model, where they are described; else those of a table
// are guessed. Throws kIo, kBadData, OptionError, and kInterrupted while synthetic rows are drawn.
Dataset OpenDataset(const DataOptions& options, uint64_t seed, int64_t columns, Observer& observer,
                    const Variables& known = {});

// The same of rows in memory, whatever `data` says. Values are 0 and 1 or, unless binarise is strict, grey
// levels from 0 to 255. Throws kBadData.
Dataset DatasetFromRows(RowTable rows, const DataOptions& options, uint64_t seed);

}  // namespace ort_ed
