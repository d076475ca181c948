#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "trainer/kernels/native/dense.h"
#include "trainer/kernels/native/outer_product_sum.h"
#include "trainer/kernels/native/row_sum.h"
#include "trainer/kernels/native/single_output.h"

namespace ort_ed {
namespace {

// Rows that go through all products together: enough to pay for loading and storing a tile of dw, few enough
// that one panel of them stays in the first-level cache.
constexpr size_t kBlockRows = 32 * SimdKernels::kRows;
constexpr size_t kMinPartRows = 256;

size_t PartCount(const DenseShape& shape) {
  return std::min(OuterProductSum::Parts(shape.rows, shape.in * shape.out, kMinPartRows), size_t{8});
}

// Blocks of about equal size, in whole tiles.
size_t EvenBlock(size_t rows) {
  constexpr size_t kTileRows = SimdKernels::kRows;
  return DivideUp(DivideUp(rows, DivideUp(rows, kBlockRows)), kTileRows) * kTileRows;
}

class Backward {
 public:
  Backward(const KernelContext& context, const DenseShape& shape, const DenseOperands& operands,
           const SwishResult* swish, const DenseGradients& gradients)
      : context_(context),
        shape_(shape),
        operands_(operands),
        swish_(swish),
        gradients_(gradients),
        parts_(PartCount(shape)),
        bias_sums_(parts_, RowSum(shape.out)),
        beta_sums_(parts_) {
    if (gradients.dx) {
      weights_.emplace(context, shape.out, shape.in, operands.w, !shape.transposed);
      zeros_ = PadToPanels(context.simd, nullptr, shape.in);
    }
    const size_t left = shape.transposed ? shape.out : shape.in, right = shape.in + shape.out - left;
    if (gradients.dw) sum_.emplace(context.simd, left, 1, right, parts_, gradients.dw);
  }

  void Run() {
    context_.run_tasks(parts_, [&](size_t part) { RunPart(part); });
    if (gradients_.dw) {
      const size_t columns = shape_.transposed ? shape_.in : shape_.out;
      sum_->Finish(context_.run_tasks, [&](size_t l, const float* values) {
        float* result = gradients_.dw + l * columns;
        if (values != result) std::copy_n(values, columns, result);
      });
    }
    if (gradients_.dbias) FinishParts(context_.simd, bias_sums_, shape_.out, gradients_.dbias);
    if (gradients_.dbeta) {
      *gradients_.dbeta = static_cast<float>(std::accumulate(beta_sums_.begin(), beta_sums_.end(), 0.0));
    }
  }

 private:
  struct Block {
    size_t first, count;
  };

  // The working memory of a part.
  struct Buffers {
    explicit Buffers(const Backward& b)
        : scratch(Scratch::Bytes<float>(b.DzSize()) + Scratch::Bytes<float>(b.LeftSize()) +
                  Scratch::Bytes<float>(b.RightSize())),
          dz(scratch.Take<float>(b.DzSize())),
          left(scratch.Take<float>(b.LeftSize())),
          right(scratch.Take<float>(b.RightSize())) {
      if (b.shape_.out % b.context_.simd.panel != 0)
        std::fill_n(dz, b.DzSize(), 0.0f);  // pads the last panel
    }
    Scratch scratch;
    float *dz, *left, *right;
  };

  struct Rows {
    const float* first;
    size_t stride;
  };

  // Rows of our own are an odd number of cache lines: a power of two would send the columns of all rows to
  // the same few places of the first-level cache.
  size_t DzStride() const {
    constexpr size_t kLine = AlignedBuffer::kAlignment / sizeof(float);
    return (DivideUp(shape_.out, kLine) | 1) * kLine;
  }
  size_t DzSize() const { return swish_ ? kBlockRows * DzStride() : 0; }
  size_t LeftSize() const { return sum_ ? sum_->PackedLeftSize(kBlockRows) : 0; }
  bool PacksRight() const { return sum_ && (shape_.transposed || !swish_); }
  size_t RightSize() const { return PacksRight() ? kBlockRows * sum_->right_blocks() * sum_->panel() : 0; }

  void RunPart(size_t part) {
    Buffers buffers(*this);
    const size_t begin = shape_.rows * part / parts_, rows = shape_.rows * (part + 1) / parts_ - begin;
    if (rows == 0) return;
    const size_t block_rows = EvenBlock(rows);
    for (size_t first = 0; first < rows; first += block_rows) {
      RunBlock(part, {begin + first, std::min(block_rows, rows - first)}, buffers);
    }
  }

  void RunBlock(size_t part, const Block& block, const Buffers& buffers) {
    const Rows dz = PreActivationGradients(part, block, buffers.dz);
    if (gradients_.dbias) bias_sums_[part].Add(context_.simd, block.count, dz.first, dz.stride);
    ReadAhead ahead = AfterBlock(block);
    if (weights_) MultiplyByWeights(block, dz, ahead);
    if (sum_) AddToSum(part, block, dz, buffers, ahead);
  }

  // Of the block's rows, in `buffer` where there is a Swish to go back through.
  Rows PreActivationGradients(size_t part, const Block& block, float* buffer) {
    if (!swish_) return {operands_.dy + block.first * shape_.out, shape_.out};
    const size_t stride = DzStride();
    for (size_t r = 0; r < block.count; ++r) {
      const size_t offset = (block.first + r) * shape_.out;
      beta_sums_[part] += context_.simd.swish_grad_of_result(shape_.out, swish_->beta, swish_->y + offset,
                                                             swish_->sigmoid + offset, operands_.dy + offset,
                                                             buffer + r * stride);
    }
    return {buffer, stride};
  }

  // What the next block will read.
  ReadAhead AfterBlock(const Block& block) const {
    const size_t next = block.first + block.count, count = std::min(block.count, shape_.rows - next);
    ReadAhead ahead;
    ahead.Add(operands_.dy + next * shape_.out, count * shape_.out);
    if (swish_) {
      ahead.Add(swish_->y + next * shape_.out, count * shape_.out);
      ahead.Add(swish_->sigmoid + next * shape_.out, count * shape_.out);
    }
    if (sum_) ahead.Add(operands_.x + next * shape_.in, count * shape_.in);
    ahead.Spread((weights_ ? TileCount(block.count, *weights_) : 0) + (sum_ ? sum_->TileCount() : 0));
    return ahead;
  }

  void MultiplyByWeights(const Block& block, const Rows& dz, ReadAhead& ahead) const {
    const float* in_rows[kBlockRows];
    float* out_rows[kBlockRows];
    for (size_t r = 0; r < block.count; ++r) {
      in_rows[r] = dz.first + r * dz.stride;
      out_rows[r] = gradients_.dx + (block.first + r) * shape_.in;
    }
    MultiplyRows(context_.simd, {block.count, in_rows, out_rows}, *weights_, zeros_.data(), ahead);
  }

  void AddToSum(size_t part, const Block& block, const Rows& dz, const Buffers& buffers, ReadAhead& ahead) {
    const size_t count = block.count, panel = sum_->panel();
    const Rows x = {operands_.x + block.first * shape_.in, shape_.in};
    const auto& [left, right] = shape_.transposed ? std::pair(dz, x) : std::pair(x, dz);
    sum_->PackLeft(count, left.first, left.stride, buffers.left);
    if (PacksRight()) sum_->PackRight(count, right.first, right.stride, buffers.right, count);
    const float* right_rows[kBlockRows];
    for (size_t r = 0; r < count; ++r)
      right_rows[r] = PacksRight() ? buffers.right + r * panel : right.first + r * right.stride;
    sum_->Add(part, count, buffers.left, right_rows, PacksRight() ? count * panel : panel, ahead);
  }

  const KernelContext& context_;
  const DenseShape& shape_;
  const DenseOperands& operands_;
  const SwishResult* swish_;
  const DenseGradients& gradients_;
  size_t parts_;
  std::vector<RowSum> bias_sums_;  // of each part
  std::vector<double> beta_sums_;
  std::optional<PackedPanels> weights_;  // if dx is wanted
  std::vector<float> zeros_;
  std::optional<OuterProductSum> sum_;  // if dw is wanted
};

}  // namespace

void DenseGrad(const KernelContext& context, const DenseShape& shape, const DenseOperands& operands,
               const SwishResult* swish, const DenseGradients& gradients) {
  if (shape.out == 1 && !swish) return SingleOutputGrad(context, shape, operands, gradients);
  Backward(context, shape, operands, swish, gradients).Run();
}

}  // namespace ort_ed
