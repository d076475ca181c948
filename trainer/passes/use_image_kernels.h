#pragma once

#include <onnx/onnx_pb.h>

#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// The part of UseCpuKernels() for images of one to three axes, of extents known beforehand; whether anything
// was replaced. The operators that it puts in are those with channels last: UseChannelsLast() gives them what
// they want.
//   Conv                                    -> Conv
//   AveragePool without padding             -> Conv of every channel by itself
//   MaxPool without indices                 -> MaxPool
//   ConvTranspose                           -> ConvTranspose
//   InstanceNormalization, GroupNormalization, and the former as exporters write the latter -> GroupNorm
bool UseImageKernels(onnx::ModelProto& model, const TensorInfos& infos);

}  // namespace ort_ed
