// A masked autoencoder that a phase of its own has trained.

#include "models/base/made_base.h"

#include "models/base/autoregressive.h"
#include "models/base/base_kind.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

void AttachLearned(onnx::ModelProto& model, const BaseContext& context, const MadeBaseOptions&) {
  if (context.learned == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "a learned base must be trained before it is used");
  AddAutoregressiveBase(model, *context.learned);
}

}  // namespace

void MadeBaseOptions::Describe(Declare<MadeBaseOptions>& declare) {
  using Self = MadeBaseOptions;
  declare("base_hidden", &Self::base_hidden, "[1, inf)", "widths of the base's hidden layers");
  declare("base_order", &Self::base_order, "ORDER",
          "in which the base draws the variables, each by those before it: ascending, random or a list");
  declare("base_orders", &Self::base_orders, "[1, 100]",
          "networks that the base is a mixture of, each further one in a random order of its own, or with "
          "`base_view` from another corner of the image");
  declare(
      "base_view", &Self::base_view, "HxW",
      "of images: pixels above and to the left that a part of the base with shared weights sees, e.g. 7x15");
  declare("base_maps", &Self::base_maps, "[1, 4096]", "features of each pixel in that part")
      .When("base_view", "*");
  declare("base_blocks", &Self::base_blocks, "[0, 100]", "its residual blocks").When("base_view", "*");
  declare("base_dropout", &Self::base_dropout, "[0, 1)", "share of its hidden units left out of each row");
  declare("base_view_dropout", &Self::base_view_dropout, "[0, 1)",
          "share of the features of its view left out of each row")
      .When("base_view", "*");
  declare("base_l1", &Self::base_l1, "[0, inf)", "penalty on the sizes of its weights: many become 0")
      .Default("2 / rows to train on");
  declare("base_weight_decay", &Self::base_weight_decay, "[0, inf)", "of the base's weights");
  declare("base_steps", &Self::base_steps, "[1, 1e12]", "steps of its training, the first phase")
      .Default("8 x `steps`, at most 8000; half of `time` where that is given");
  declare("base_batch_size", &Self::base_batch_size, "[1, 1000000]", "rows of one of these steps");
  declare("base_learning_rate", &Self::base_learning_rate, "(0, inf)",
          "at the first of them; falls to 0 like a cosine");
  declare("base_patience", &Self::base_patience, "[0, inf)",
          "ends the phase after this many validations without a lower loss; 0: never")
      .Default("a quarter of the steps");
  declare("base_race", &Self::base_race, "",
          "short trainings of several bases come first, and held-out rows choose; other options than the "
          "defaults hold for all");
}

extern const BaseKind kMadeBase;
const BaseKind kMadeBase = MakeBaseKind<MadeBaseOptions, AttachLearned>(
    "made", "a masked autoencoder, trained first by maximum likelihood");

}  // namespace ort_ed
