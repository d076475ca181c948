#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "models/inspect/bipartite_terms.h"
#include "ort_ed/bipartite_form.h"

namespace ort_ed {

// The values of an initialiser.
using InitialiserValues = std::function<std::vector<float>(const std::string& name)>;

BipartiteForm ReadBipartite(const BipartiteTerms& terms, const InitialiserValues& values);

// Of a model as it stands; null where its graph shows no RBM.
std::shared_ptr<const BipartiteForm> ReadBipartite(const onnx::ModelProto& model);

}  // namespace ort_ed
