#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {

void SumRows(const KernelContext& context, size_t rows, size_t columns, const float* in, float* result) {
  constexpr size_t kTaskColumns = 512;
  const size_t blocks = DivideUp(rows, kLongestSum), strips = DivideUp(columns, kTaskColumns);
  std::vector<float> sums(blocks * columns);
  context.run_tasks(blocks * strips, [&](size_t task) {
    const size_t block = task / strips, row = block * kLongestSum, column = task % strips * kTaskColumns;
    context.simd.add_rows(std::min(kLongestSum, rows - row), std::min(kTaskColumns, columns - column),
                          in + row * columns + column, columns, &sums[block * columns + column]);
  });
  RowSum total(columns);
  total.Add(context.simd, blocks, sums.data(), columns);
  total.Finish(context.simd, result);
}

}  // namespace ort_ed
