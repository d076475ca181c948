#include "tools/jobs/data/random_rows.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kPurpose = 0x726F7773;  // of the random numbers

}  // namespace

std::vector<float> RandomRows(const RowTable& table, int64_t count, uint64_t seed) {
  count = std::min(count, table.rows);
  std::vector<int64_t> order(static_cast<size_t>(table.rows));
  std::iota(order.begin(), order.end(), 0);
  RandomStream random(seed, kPurpose, 0, 0);
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(count * table.columns));
  for (int64_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + random.Below(static_cast<uint32_t>(table.rows - i))]);
    std::ranges::copy(table.Row(order[i]), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace ort_ed
