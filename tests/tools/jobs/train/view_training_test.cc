// Trainings of a normalised network with a view over images.

#include <gtest/gtest.h>

#include "models/base/autoregressive.h"
#include "tests/support/error_matchers.h"
#include "tests/tools/jobs/train/law_training.h"

namespace ort_ed {
namespace {

TrainOptions WithView(const OptionMap& network, double view_dropout) {
  OptionMap options = {{"hidden", "8"}, {"view", "2x3"}, {"maps", 6}, {"blocks", 2}};
  for (const auto& [key, value] : network) options.insert_or_assign(key, value);
  TrainOptions training = Options({"made", options}, {"likelihood", {{"view_dropout", view_dropout}}});
  training.network.image_shape = "2x4";
  training.run.steps = 800;
  return training;
}

TEST(ViewTraining, LearnsTheLawFromEveryCorner) {
  for (const int64_t orders : {1, 4})
    EXPECT_LT(Divergence(Fit(WithView({{"orders", orders}}, 0)).model), 0.02) << orders;
}

TEST(ViewTraining, DropoutChangesTheTrainingAndNotWhatTheModelIs) {
  for (const int64_t maps : {2, 32}) {  // with few maps the images keep their layout in the step
    SCOPED_TRACE(maps);
    const TrainResult plain = Fit(WithView({{"maps", maps}}, 0));
    const TrainResult dropped = Fit(WithView({{"maps", maps}}, 0.3));
    EXPECT_EQ(dropped.model.graph().node_size(), plain.model.graph().node_size());
    EXPECT_TRUE(IsNormalised(dropped.model));
    EXPECT_NE(dropped.model.graph().initializer(0).raw_data(), plain.model.graph().initializer(0).raw_data());
    EXPECT_LT(Divergence(dropped.model), 0.05);
  }
}

TEST(ViewTraining, DropoutOfAViewNeedsOne) {
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        Fit(Options({"made", {{"hidden", "8"}}}, {"likelihood", {{"view_dropout", 0.3}}}));
      },
      "without a view with blocks");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        Fit(WithView({{"blocks", 0}}, 0.3));
      },
      "without a view with blocks");
}

}  // namespace
}  // namespace ort_ed
