#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/row_writer.h"
#include "tools/jobs/tables/model_rows.h"

namespace ort_ed {

// Numbers about rows, in a column for each name. As text they are separated as the table of the rows is, and
// have its column `id` in front, unless that is empty. A job hands its rows over as they come. Throws what
// CreateFloatFile() throws, and OptionError of `id` where the file, which the option `output` names, is no
// table.
std::unique_ptr<RowWriter<float>> CreateNumberTable(const std::string& path, const ModelRows& rows,
                                                    const std::string& id, RowFileOptions options,
                                                    const std::string& output = "output");

}  // namespace ort_ed
