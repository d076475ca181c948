#include "tools/jobs/check.h"

#include "tools/jobs/stopwatch.h"
#include "tools/jobs/train/export.h"

namespace ort_ed {
namespace {

template <typename Work>
void Try(const Work& work, std::vector<std::string>& problems) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadModel) throw;
    problems.emplace_back(error.what());
  }
}

// What can be trained can be scored, and what was trained can be deployed.
void TryOtherCommands(const LoadedModel& model, std::vector<std::string>& problems) {
  Try(
      [&] {
        const std::vector<float> row(static_cast<size_t>(model.dimension()));
        std::vector<float> energy(1);
        model.energy_model().Energy(row, energy);  // of one row, which some graphs squeeze away
      },
      problems);
  onnx::ModelProto deployed = model.proto();
  Try([&] { PrepareForDeployment(deployed, model.name()); }, problems);
}

}  // namespace

CheckResult Check(const LoadedModel& model, const GradientCheckOptions& options, Observer& observer) {
  const Stopwatch stopwatch;
  CheckResult result;
  result.check = CheckModel(model.proto(), model.name(),
                            {.rows = options.rows,
                             .seed = options.seed,
                             .frozen = options.frozen,
                             .trainable = options.trainable,
                             .on_progress = Watch(observer, "comparing gradients", "tensors")});
  TryOtherCommands(model, result.check.problems);
  result.seconds = stopwatch.Seconds();
  return result;
}

std::string AdviceOnBlindSpots(const std::vector<BlindSpot>& spots) {
  return DescribeBlindSpots(spots) +
         ": gradient-guided samplers need --gradient differences; Gibbs sampling does without";
}

}  // namespace ort_ed
