#pragma once

#include <string>

#include <onnx/onnx_pb.h>

#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// What the form of an image's tensor with the layout [n, h, w, c] is called.
inline std::string ChannelsLastName(const std::string& tensor) { return tensor + "/channels_last"; }

// Gives every operator for images of our own domain (UseImageKernels()), which has the place of a standard
// one, its images in the layout [n, spatial axes, c]: inserts ChannelsLast and ChannelsFirst, and leaves them
// out between those that are joined by elementwise operators, by Concat of channels, or by a Transpose to or
// from this very layout; means over all places take it as well. `infos`: of the tensors as they were before.
void UseChannelsLast(onnx::GraphProto& graph, const TensorInfos& infos);

}  // namespace ort_ed
