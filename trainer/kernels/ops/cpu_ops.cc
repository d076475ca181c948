#include "trainer/kernels/ops/cpu_ops.h"

#include <tuple>

#include "trainer/kernels/ops/conv_ops.h"
#include "trainer/kernels/ops/dense_ops.h"
#include "trainer/kernels/ops/elementwise_op.h"
#include "trainer/kernels/ops/image_ops.h"
#include "trainer/kernels/ops/row_ops.h"
#include "trainer/kernels/ops/sum_rows_op.h"

namespace ort_ed {
namespace {

template <typename... Ops>
Ort::CustomOpDomain MakeDomain() {
  static const std::tuple<Registered<Ops>...> ops;
  Ort::CustomOpDomain domain(kCpuKernelDomain);
  std::apply([&](const auto&... op) { (domain.Add(&op), ...); }, ops);
  return domain;
}

}  // namespace

void RegisterCpuKernels(Ort::SessionOptions& options) {
  // Never destroyed: a session in a global variable may outlive it.
  static const Ort::CustomOpDomain& domain = *new Ort::CustomOpDomain(
      MakeDomain<SwishOp, SwishGradOp, DenseOp, DenseGradOp, DenseSwishOp, DenseSwishGradOp, ConvOp,
                 ConvInputGradOp, ConvWeightGradOp, ChannelsLastOp, ChannelsFirstOp, ConvTransposeOp,
                 MaxPoolOp, MaxPoolGradOp, GroupNormOp, GroupNormGradOp, LayerNormOp, LayerNormGradOp, GeluOp,
                 GeluGradOp, ReluOp, ReluGradOp, MatMulsOp, AttentionOp, AttentionGradOp, ElementwiseOp,
                 SumRowsOp>());
  options.Add(domain);
}

}  // namespace ort_ed
