#pragma once

#include <string>

#include <onnx/onnx_pb.h>

#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// What the form of an image's tensor with the layout [n, h, w, c] is called.
inline std::string ChannelsLastName(const std::string& tensor) { return tensor + "/channels_last"; }

// Gives every Conv of our own domain, which UseCpuKernels() put in place of a standard one, its images in the
// layout [n, h, w, c]: inserts ChannelsLast and ChannelsFirst, and leaves them out between convolutions that
// are joined by elementwise operators alone. `infos`: of the tensors as they were before.
void UseChannelsLast(onnx::GraphProto& graph, const TensorInfos& infos);

}  // namespace ort_ed
