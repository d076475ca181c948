#pragma once

#include <memory>
#include <string>

#include <onnx/onnx_pb.h>

#include "tools/jobs/sample/proposal.h"

namespace ort_ed {

// The kinds of proposals, of files whose inputs and outputs are theirs.
std::shared_ptr<const Proposal> MakeConstructionProposal(const onnx::ModelProto& model,
                                                         const std::string& name, int threads,
                                                         const ProposalOptions& options);
std::shared_ptr<const Proposal> MakeEditProposal(const onnx::ModelProto& model, const std::string& name,
                                                 int threads, const ProposalOptions& options);

}  // namespace ort_ed
