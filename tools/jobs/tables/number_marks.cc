#include "tools/jobs/tables/number_marks.h"

#include <cmath>

namespace ort_ed {

void NumberMarks::Add(const CellValue& number) {
  const CellForm& form = number.form;
  if (form.unclear != 0) {
    ++Of(form.unclear).unclear;
    return;
  }
  if (form.thousands == ',' || form.thousands == '.') ++Of(form.thousands).thousands;
  if (form.decimal != 0) ++Of(form.decimal).decimals;
  if (form.thousands != 0 || number.type != CellValues::kInteger || number.number == 0) return;
  ++(std::abs(number.number) < 1000 ? below_thousand_ : above_thousand_);
}

int64_t NumberMarks::Balance(char mark) const {
  const Evidence &own = Of(mark), &other = Of(mark == ',' ? '.' : ',');
  return own.thousands + other.decimals - own.decimals - other.thousands;
}

bool NumberMarks::AreThousands(char mark, bool decimal_comma) const {
  constexpr int64_t kRare = 20;  // one 12,5 among many 1,234 is a slip
  const int64_t balance = Balance(mark);
  if (balance > 0) return true;
  const bool usual = mark == ',' && !decimal_comma;
  if (balance < 0) return usual && -balance * kRare < Of(mark).unclear;
  return usual || (decimal_comma && LooksGrouped());
}

char NumberMarks::assumed(bool decimal_comma) const {
  for (const char mark : {'.', ','})
    if (decimal_comma && Of(mark).unclear > 0 && Balance(mark) == 0 && LooksGrouped()) return mark;
  return 0;
}

}  // namespace ort_ed
