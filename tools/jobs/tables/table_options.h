#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ort_ed/options.h"

namespace ort_ed {

enum class MissingCells { kState, kOmit };
enum class TableHeader { kAuto, kYes, kNo };

// How the columns of a text table become variables; what is not said is guessed.
struct TableOptions {
  std::vector<std::string> columns = {"0"};  // names or, for packed bits, their number; 0: all
  std::vector<std::string> drop = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> ordered = {};
  std::vector<std::string> cyclic = {};
  int64_t bins = 16;
  int64_t rare = 2;
  int64_t max_categories = 100;
  MissingCells missing = MissingCells::kState;
  TableHeader header = TableHeader::kAuto;
  std::string variables = "";

  static void Describe(Declare<TableOptions>& declare);

  // What `columns` says where it is a number; 0: it is not.
  int64_t Width() const;
  bool NamesColumns() const { return Width() == 0 && columns != TableOptions().columns; }
  // The first option that only tables have and that is not at its default, but for those; empty: none.
  std::string FirstGiven(const std::vector<std::string>& but = {}) const;
};

}  // namespace ort_ed
