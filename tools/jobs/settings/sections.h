#pragma once

#include <string>
#include <vector>

#include "ort_ed/options.h"

namespace ort_ed {

// Where an option stands in a configuration file.
struct FileOption {
  VisibleOption visible;
  std::string section;
  std::string table;  // inside the section; empty: the section itself
};

// All options of a schema, those of a kind at the place of the choice that leads to it.
std::vector<FileOption> FileOptions(const Schema& schema);

}  // namespace ort_ed
