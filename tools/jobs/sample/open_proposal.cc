#include <algorithm>

#include <fmt/format.h>

#include "models/graph/model_file.h"
#include "models/policy/construction_policy.h"
#include "models/policy/edit_policy.h"
#include "ort_ed/error.h"
#include "ort_ed/options.h"
#include "tools/jobs/sample/proposals.h"

namespace ort_ed {
namespace {

struct ProposalKind {
  const char* method;
  const char* input;
  std::vector<std::string> outputs;
  decltype(MakeConstructionProposal)* make;
  const char* foreign_key;  // of an option that only the other kind has
};

const ProposalKind kKinds[] = {
    {"eb-gfn",
     construction_policy::kOpen,
     {construction_policy::kAdditions, construction_policy::kRemovals, construction_policy::kLogPartition},
     MakeConstructionProposal,
     ProposalOptions::kCopiesKey},
    {"aloe",
     edit_policy::kRow,
     {edit_policy::kLogOdds, edit_policy::kEdits},
     MakeEditProposal,
     ProposalOptions::kVariablesKey},
};

const ProposalKind& KindOf(const onnx::ModelProto& model, const std::string& path) {
  std::vector<std::string> outputs;
  for (const auto& output : model.graph().output()) outputs.push_back(output.name());
  for (const ProposalKind& kind : kKinds)
    if (model.graph().input_size() == 1 && model.graph().input(0).name() == kind.input &&
        outputs == kind.outputs)
      return kind;
  throw Error(ErrorCode::kBadModel,
              fmt::format("'{}' is no policy: the policy.onnx of a run by eb-gfn has the input {} and the "
                          "outputs {}, the aloe.onnx of a run by aloe {} and {}",
                          path, kKinds[0].input, fmt::join(kKinds[0].outputs, ", "), kKinds[1].input,
                          fmt::join(kKinds[1].outputs, ", ")));
}

void RequireWidth(const onnx::ModelProto& model, const std::string& path, int64_t dimension) {
  const auto& type = model.graph().input(0).type().tensor_type();
  const int64_t width = type.shape().dim_size() == 2 ? type.shape().dim(1).dim_value() : 0;
  if (width < 1 || type.elem_type() != onnx::TensorProto::FLOAT)
    throw Error(ErrorCode::kBadModel,
                fmt::format("the input of '{}' must be float [batch, D] to be that of a policy", path));
  if (width != dimension)
    throw OptionError("policy", fmt::format("must be a policy of {} variables as the model; '{}' has {}",
                                            dimension, path, width));
}

}  // namespace

void RequireBinary(const Variables& variables, const std::string& key) {
  if (!variables.all_binary())
    throw OptionError(key, "must be left out: it builds rows of binary variables, and the model has others");
}

std::shared_ptr<const Proposal> OpenProposal(const std::string& path, int64_t dimension, int threads,
                                             const ProposalOptions& options) {
  const onnx::ModelProto model = LoadModel(path);
  const ProposalKind& kind = KindOf(model, path);
  RequireWidth(model, path, dimension);
  const bool foreign = kind.foreign_key == std::string(ProposalOptions::kCopiesKey)
                           ? options.copies.has_value()
                           : options.variables.has_value();
  if (foreign)
    throw OptionError(kind.foreign_key, fmt::format("has no effect with a policy of {}", kind.method),
                      OptionError::Problem::kNoEffect);
  return kind.make(model, path, threads, options);
}

}  // namespace ort_ed
