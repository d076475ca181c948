#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ort_ed/variables.h"
#include "runtime/data/table/cell_value.h"
#include "tools/jobs/tables/number_marks.h"

namespace ort_ed {

// What a column of a table holds, taken in cell by cell. Memory is bounded whatever the table: of texts the
// first 10,000 different ones are counted, of numbers 100,000 are kept, drawn evenly from all.
class ColumnProfile {
 public:
  static constexpr size_t kMostTexts = 10'000;
  static constexpr size_t kMostTextBytes = size_t{1} << 22;
  static constexpr size_t kMostNumbers = 100'000;

  void Add(const std::string& cell, bool decimal_comma);

  int64_t rows() const { return rows_; }
  int64_t missing() const { return missing_; }
  int64_t present() const { return rows_ - missing_; }

  // How often each different cell occurs; with too_many_texts() not all of them are there.
  const std::unordered_map<std::string, int64_t>& texts() const { return texts_; }
  bool too_many_texts() const { return too_many_texts_; }

  // The type that reads all cells but a few (Strays()); text where there is none.
  CellValues type() const;
  int64_t strays() const { return type() == CellValues::kText ? 0 : untyped_; }
  const std::string& stray() const { return untyped_example_; }  // one of them

  bool decimal_comma() const { return decimal_comma_; }
  // How its cells are written (cell_format.h); empty: the usual way.
  std::string format() const;
  // Dates such as 03/04/2024 of which no cell tells what is the day.
  bool day_is_unclear() const { return ambiguous_ > 0 && day_only_ == 0 && month_only_ == 0; }
  // Numbers such as 1.234 of which no cell tells whether it is 1234, which was taken: the mark in them, or 0.
  char assumed_thousands() const { return marks_.assumed(decimal_comma_); }
  // In ascending order; in a large table an even sample of them.
  std::vector<double> SortedNumbers() const;
  double smallest() const { return extent().smallest; }
  double largest() const { return extent().largest; }

  // No cell occurs twice, as far as 100,000 rows tell.
  bool unique() const { return unique_ && present() > 0; }
  // Whole numbers one after the other, as counters give them.
  bool counts_up() const { return counts_up_ && present() > 1; }
  // Of all cells in their order: equal for columns that are equal.
  uint64_t hash() const { return hash_; }

 private:
  // A number that may be read in two ways, by what is told of the mark in it; 0: in one only.
  struct Reading {
    CellValues type;
    double number;
  };
  struct Readings {
    Reading usual, otherwise;
    char mark = 0;
  };
  struct Kept {
    double usual, otherwise;
    char mark;
  };
  struct Extent {
    CellValues type = CellValues::kText;  // the widest
    double smallest = 0, largest = 0;
    int64_t count = 0;

    void Add(const Extent& other);
  };

  static Readings ReadingsOf(const CellValue& value);
  void AddText(const std::string& cell);
  void AddNumber(const Readings& readings);
  Extent extent() const;
  std::string NumberFormatText() const;
  // Whether the cell is written as those before it.
  bool TakeForm(const CellValue& value);
  bool month_first() const;
  bool swaps(char mark) const;  // what has this mark means what was not taken at first

  int64_t rows_ = 0, missing_ = 0, untyped_ = 0, typed_ = 0;
  std::string untyped_example_;
  std::unordered_map<std::string, int64_t> texts_;
  size_t text_bytes_ = 0;
  bool too_many_texts_ = false;
  std::vector<Kept> numbers_;
  std::map<char, std::array<Extent, 2>> extents_;  // by the mark: of numbers as taken, and otherwise
  double last_ = 0;
  NumberMarks marks_;
  CellForm form_;                                          // of the cells so far
  int64_t ambiguous_ = 0, day_only_ = 0, month_only_ = 0;  // dates with the year behind
  std::unordered_set<uint64_t> seen_;
  bool unique_ = true, counts_up_ = true;
  uint64_t hash_ = 0;
  bool decimal_comma_ = false;
};

}  // namespace ort_ed
