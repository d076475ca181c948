#include "tools/jobs/train/setup/choose_method.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/architectures/energy_spec.h"
#include "models/base/base_distribution.h"
#include "models/graph/model_edits.h"
#include "ort_ed/device.h"
#include "ort_ed/metadata.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/base_phase.h"
#include "tools/jobs/train/learned_base/choose_base.h"
#include "tools/jobs/train/learning/open_masses.h"
#include "tools/jobs/train/setup/resolve_options.h"

namespace ort_ed {
namespace {

// An enumeration has the row itself among its negatives: w = 1 would count it twice.
void ChooseStabilisation(RunSetup& setup, Observer& observer) {
  Choice& objective = setup.options.objective;
  if (objective.kind != "energy-discrepancy" || !setup.negatives->enumerates()) return;
  if (!objective.options.contains("w")) objective.options["w"] = 0.0;
  const std::string w =
      FormatOption(ParseOption(OptionType::kNumber, FormatOption(objective.options.at("w"))));
  if (w == "0") return;
  setup.warnings.push_back(
      fmt::format("w = {} counts every row once more than its enumeration does; w = 0 is the exact loss", w));
  observer.OnWarning(setup.warnings.back());
}

// Of a wide row 0.1 flips so many bits that every negative gives itself away, and nothing is learned: some
// rows change in one or two variables, which teaches details, others in a few more.
void ChooseNoise(RunSetup& setup, int64_t dimension, Observer& observer) {
  constexpr int64_t kNarrow = 32;
  constexpr double kFewFlips = 1.5, kMoreFlips = 6;
  Choice& method = setup.options.contrast.method;
  if (dimension <= kNarrow || method.kind != "bernoulli" || method.options.contains("epsilon") ||
      method.options.contains("epsilon_end"))
    return;
  const auto width = static_cast<double>(dimension);
  const std::vector<double> levels = {kFewFlips / width, std::min(0.1, kMoreFlips / width)};
  method.options.insert_or_assign("epsilon", levels);
  observer.OnNotice(fmt::format("epsilon is {:.4g} or {:.4g}: about {} or {} flips in a row of {}", levels[0],
                                levels[1], kFewFlips, kMoreFlips, dimension));
}

void ChooseMethodByData(RunSetup& setup, Observer& observer) {
  Choice& method = setup.options.contrast.method;
  const Variables& variables = setup.dataset->variables;
  if (const auto base = ChooseLearnedBase(setup.options.network, *setup.dataset)) {
    setup.options.network.base = *base;
    method = "draws";
    observer.OnNotice(
        "a base is learned first, and the network on it, since noise alone teaches little where rows have so "
        "many states or are so few (base made, whose length is base_steps; method draws)");
  } else if (variables.all_binary()) {
    method = kNoiseMethod;
  } else {
    method = MethodForCategories(variables);
    observer.OnNotice(fmt::format("the method is {}, which changes whole variables", method.kind));
  }
  ResolveByMethod(setup.options);
}

}  // namespace

RowContext RowsOf(const RunSetup& setup, const EnergyContract& contract) {
  const TrainOptions& options = setup.options;
  const std::string known = GetMetadata(setup.model, metadata_key::kImageShape);
  const std::string& given = options.network.image_shape;
  return {.dimension = contract.dimension,
          .variables = GetVariables(setup.model, contract.dimension),
          .image_shape = ParseImageShape(given.empty() ? known : given),
          .mean = setup.dataset->mean,
          .base = setup.base,
          .step_negatives = options.batch.batch_size * options.contrast.negatives,
          .threads = options.run.threads,
          .seed = static_cast<uint64_t>(options.batch.seed),
          .device = ParseDevice(options.run.device)};
}

void ChooseMethod(RunSetup& setup, Observer& observer) {
  if (setup.options.contrast.method.kind == kAutoMethod) ChooseMethodByData(setup, observer);
  if (IsLearnedHere(setup.options.network.base) && !setup.options.run.time)
    ResolveBaseSteps(setup.options, *setup.dataset);
}

void ChooseNegatives(RunSetup& setup, const EnergyContract& contract, Observer& observer) {
  ChooseNoise(setup, contract.dimension, observer);
  setup.negatives = MakeNegatives(setup.options.contrast.method, RowsOf(setup, contract));
  ChooseStabilisation(setup, observer);
  if (!setup.dataset->variables.all_binary()) return;  // more states than two connect all
  if (std::string open = DescribeOpenMasses(setup.options.contrast.method); !open.empty()) {
    observer.OnWarning(open);
    setup.warnings.push_back(std::move(open));
  }
}

}  // namespace ort_ed
