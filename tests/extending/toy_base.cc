// A base with an option of its own: independent Bernoullis, all with the mean `toy_mean`.

#include "models/base/base_distribution.h"
#include "models/base/base_kind.h"

namespace ort_ed {
namespace {

struct ToyOptions {
  double toy_mean = 0.5;
  static void Describe(Declare<ToyOptions>& declare) {
    declare("toy_mean", &ToyOptions::toy_mean, "(0, 1)", "of every variable");
  }
};

void AttachToy(onnx::ModelProto& model, const BaseContext& context, const ToyOptions& options) {
  AddBaseDistribution(model, std::vector<float>(context.mean.size(), static_cast<float>(options.toy_mean)));
}

}  // namespace

extern const BaseKind kToyBase = MakeBaseKind<ToyOptions, AttachToy>("toy", "Bernoullis with one mean");

}  // namespace ort_ed
