#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Exporters store equal initialisers once and let an Identity make the others: as training begins a weight of
// ones and a running variance are the same. An initialiser of one number throughout that an Identity copies
// becomes two, the second under the name of the copy; one with different numbers is equal because the program
// ties it, and stays one. Other exporters let the layers themselves read one: weights of norms and biases of
// one number throughout that several layers read become one for each, unless the layers share another
// initialiser, too.
void PartInitialisers(onnx::ModelProto& model);

}  // namespace ort_ed
