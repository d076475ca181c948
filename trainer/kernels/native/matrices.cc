#include "trainer/kernels/native/matrices.h"

#include <algorithm>
#include <vector>

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;
// Products of numbers in one task.
constexpr size_t kTaskProducts = 1 << 18;

// One product after the other, on one thread.
class OneByOne {
 public:
  explicit OneByOne(const SimdKernels& simd) : context_{simd, here_} {}

  // out [rows, columns] = a [rows, depth] * b [depth, columns]; transposed: lies there as [depth, rows],
  // [columns, depth].
  void Multiply(size_t rows, size_t depth, size_t columns, const float* a, bool transposed_a, const float* b,
                bool transposed_b, float* out) {
    MultiplyBy(rows, PackedPanels(context_, depth, columns, b, transposed_b), a, transposed_a, out);
  }

  void MultiplyBy(size_t rows, const PackedPanels& weights, const float* a, bool transposed_a, float* out) {
    const size_t depth = weights.depth(), columns = weights.columns();
    if (transposed_a) {
      turned_.resize(rows * depth);
      context_.simd.transpose(depth, rows, a, rows, turned_.data(), depth);
      a = turned_.data();
    }
    zeros_.resize(DivideUp(columns, context_.simd.panel) * context_.simd.panel);
    constexpr size_t kBlock = 16 * kRows;
    const float* in_rows[kBlock];
    float* out_rows[kBlock];
    for (size_t first = 0; first < rows; first += kBlock) {
      const size_t count = std::min(kBlock, rows - first);
      for (size_t r = 0; r < count; ++r) {
        in_rows[r] = a + (first + r) * depth;
        out_rows[r] = out + (first + r) * columns;
      }
      MultiplyRows(context_.simd, {count, in_rows, out_rows}, weights, zeros_.data());
    }
  }

  const KernelContext& context() const { return context_; }

 private:
  const TaskRunner here_ = [](size_t count, const std::function<void(size_t)>& task) {
    for (size_t i = 0; i < count; ++i) task(i);
  };
  KernelContext context_;
  std::vector<float> turned_, zeros_;
};

size_t TaskMatrices(size_t products) {
  return std::max<size_t>(kTaskProducts / std::max<size_t>(products, 1), 1);
}

}  // namespace

void MultiplyMatrices(const KernelContext& context, const MatricesShape& s, const float* a, const float* b,
                      float* out) {
  const size_t a_size = s.shared_a ? 0 : s.rows * s.depth;
  ForRanges(context, s.count, TaskMatrices(s.rows * s.depth * s.columns),
            [&](size_t, size_t first, size_t count) {
              OneByOne work(context.simd);
              for (size_t i = first; i < first + count; ++i)
                work.Multiply(s.rows, s.depth, s.columns, a + i * a_size, s.transposed_a,
                              b + i * s.depth * s.columns, s.transposed_b, out + i * s.rows * s.columns);
            });
}

void Attention(const KernelContext& context, const AttentionShape& s, const float* a, const float* b,
               const float* v, float* y, float* p) {
  ForRanges(context, s.count, TaskMatrices(s.tokens * s.others * (s.depth + s.width)),
            [&](size_t, size_t first, size_t count) {
              OneByOne work(context.simd);
              for (size_t i = first; i < first + count; ++i) {
                float* const shares = p + i * s.tokens * s.others;
                work.Multiply(s.tokens, s.depth, s.others, a + i * s.tokens * s.depth, false,
                              b + i * s.depth * s.others, false, shares);
                context.simd.softmax_rows(s.tokens, s.others, shares);
                work.Multiply(s.tokens, s.others, s.width, shares, false, v + i * s.others * s.width, false,
                              y + i * s.tokens * s.width);
              }
            });
}

void AttentionGrad(const KernelContext& context, const AttentionShape& s, const AttentionOperands& in,
                   const AttentionGradients& out) {
  ForRanges(
      context, s.count, TaskMatrices(2 * s.tokens * s.others * (s.depth + s.width)),
      [&](size_t, size_t first, size_t count) {
        OneByOne work(context.simd);
        std::vector<float> slopes(s.tokens * s.others);
        for (size_t i = first; i < first + count; ++i) {
          const float* const p = in.p + i * s.tokens * s.others;
          const float* const dy = in.dy + i * s.tokens * s.width;
          const size_t a_at = i * s.tokens * s.depth, b_at = i * s.depth * s.others,
                       v_at = i * s.others * s.width;
          work.Multiply(s.others, s.tokens, s.width, p, true, dy, false, out.dv + v_at);
          work.Multiply(s.tokens, s.width, s.others, dy, false, in.v + v_at, true, slopes.data());
          context.simd.softmax_rows_grad(s.tokens, s.others, p, slopes.data());
          work.Multiply(s.tokens, s.others, s.depth, slopes.data(), false, in.b + b_at, true, out.da + a_at);
          work.Multiply(s.depth, s.tokens, s.others, in.a + a_at, true, slopes.data(), false, out.db + b_at);
        }
      });
}

}  // namespace ort_ed
