#pragma once

#include <cstdint>

#include "runtime/data/table/cell_value.h"

namespace ort_ed {

// What points and commas mean in the numbers of a column. 1.234 may be either 1234 or 1.234; other cells of
// the column, such as 1.234.567, 0.5 and 12,75, tell.
class NumberMarks {
 public:
  void Add(const CellValue& number);

  // Whether 1.234, or 1,234, is read as 1234; `decimal_comma`: as of ReadCellValue().
  bool AreThousands(char mark, bool decimal_comma) const;
  // The mark whose thousands no cell shows for certain; 0: there is none.
  char assumed(bool decimal_comma) const;

 private:
  struct Evidence {
    int64_t thousands = 0, decimals = 0, unclear = 0;
  };
  const Evidence& Of(char mark) const { return mark == ',' ? comma_ : point_; }
  Evidence& Of(char mark) { return mark == ',' ? comma_ : point_; }
  // More is said for thousands than for decimals; 0: as much.
  int64_t Balance(char mark) const;
  bool LooksGrouped() const { return below_thousand_ > 0 && above_thousand_ == 0; }

  Evidence point_, comma_;
  int64_t below_thousand_ = 0, above_thousand_ = 0;  // whole numbers without a mark
};

}  // namespace ort_ed
