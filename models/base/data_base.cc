// Independent variables with the frequencies of the data; or none.

#include "models/base/base_distribution.h"
#include "models/base/base_kind.h"
#include "models/base/made_base.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"

namespace ort_ed {
namespace {

struct MeanOptions {
  double base_smoothing = 0.01;
  static void Describe(Declare<MeanOptions>& declare) {
    declare("base_smoothing", &MeanOptions::base_smoothing, "(0, 0.5]",
            "keeps the base's mean off 0 and 1 by this much");
  }
};

void AttachMean(onnx::ModelProto& model, const BaseContext& context, const MeanOptions& options) {
  const Variables variables = GetVariables(model, std::ssize(context.mean));
  AddBaseDistribution(model, SmoothedMean(context.mean, options.base_smoothing, variables));
}

// Of all that it may become; an option of made chooses made, which is done before a base is attached.
struct AutoOptions {
  MeanOptions mean;
  MadeBaseOptions made;
  static void Describe(Declare<AutoOptions>& declare) {
    declare.All(&AutoOptions::mean);
    declare.All(&AutoOptions::made);
  }
};

// These architectures have no fields of their own that do what a base distribution does.
void AttachWhereUseful(onnx::ModelProto& model, const BaseContext& context, const AutoOptions& options) {
  const std::string architecture = GetMetadata(model, metadata_key::kArchitecture);
  if (architecture == "mlp" || architecture == "resnet") AttachMean(model, context, options.mean);
}

struct NoOptions {
  static void Describe(Declare<NoOptions>&) {}
};

void AttachNothing(onnx::ModelProto&, const BaseContext&, const NoOptions&) {}

}  // namespace

extern const BaseKind kAutoBase, kDataBase, kNoBase;
const BaseKind kAutoBase = MakeBaseKind<AutoOptions, AttachWhereUseful>(
    "auto",
    "with method auto and many states, or an option of made, made; else data for mlp and resnet, none for "
    "others");
const BaseKind kDataBase =
    MakeBaseKind<MeanOptions, AttachMean>("data", "independent variables with the frequencies of the data");
const BaseKind kNoBase = MakeBaseKind<NoOptions, AttachNothing>("none", "the network alone");

}  // namespace ort_ed
