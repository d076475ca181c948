#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// A Squeeze that names no axes takes the rows away, too, where there is one. It gets the axes that have the
// extent 1 for every number of rows. The model computes what it did before for more rows than one.
void KeepRows(onnx::ModelProto& model);

}  // namespace ort_ed
