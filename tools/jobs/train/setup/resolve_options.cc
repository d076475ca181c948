#include "tools/jobs/train/setup/resolve_options.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "ort_ed/device.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/base_phase.h"
#include "tools/jobs/train/learned_base/choose_base.h"

namespace ort_ed {
namespace {

std::string Absolute(const std::string& path) {
  return path.empty() || path.starts_with("synth:")
             ? path
             : std::filesystem::absolute(path).lexically_normal().string();
}

// Negatives are made for one objective, and mean nothing to another that has methods of its own.
void ResolveObjective(TrainOptions& options) {
  const std::string own = ObjectiveOf(options.contrast.method);
  const std::string& method = options.contrast.method.kind;
  Choice& objective = options.objective;
  if (objective.kind == kAutoObjective) objective.kind = own;
  if (objective.kind != own && IsObjectiveOfMethods(objective.kind))
    throw OptionError("objective", fmt::format("must be {} with method {}, whose negatives are made for it, "
                                               "not {}",
                                               own, method, objective.kind));
  const KindTable table = ObjectiveTable();
  const auto row = std::ranges::find(table.rows, objective.kind, &KindRow::name);
  for (const auto& [key, value] : objective.options)
    if (row->schema->Find(key) == nullptr)
      throw OptionError(
          key, fmt::format("has no effect with `objective` {} of `method` {}", objective.kind, method),
          OptionError::Problem::kNoEffect);
}

// Methods whose negatives are drawn by a learned base.
bool NeedsLearnedBase(const Choice& method) { return method.kind == "refill" || method.kind == "draws"; }

// Where the method is known.
void ResolveBase(TrainOptions& options) {
  NetworkOptions& network = options.network;
  // The other architectures have fields of their own that do what a base distribution does.
  const bool needs_base = !network.IsFile() && network.model.kind != "made";
  if (network.base.kind == "auto" && NeedsLearnedBase(options.contrast.method) && needs_base &&
      network.base.options.empty())
    network.base = "made";
  if (network.base.kind == "auto") {
    const bool useful = network.model.kind == "mlp" || network.model.kind == "resnet";
    if (!useful && !network.base.options.empty() && !IsAtDefault(network.base))
      throw OptionError(network.base.options.begin()->first,
                        fmt::format("has no effect with `model` {}, which gets no base; choose `base` data",
                                    network.model.kind),
                        OptionError::Problem::kNoEffect);
    network.base = useful ? Choice("data", network.base.options) : Choice("none");
  }
}

}  // namespace

void ResolveByMethod(TrainOptions& options) {
  ResolveObjective(options);
  ResolveBase(options);
}

TrainOptions ResolveOptions(TrainOptions options) {
  CheckOptions(options);
  CheckTogether(options);
  ChooseBaseByOptions(options.network.base);
  Choice& method = options.contrast.method;
  if (method.kind == kAutoMethod && !method.options.empty()) method.kind = kNoiseMethod;
  if (method.kind == kAutoMethod && options.network.model.kind == "made") method = "likelihood";
  // Noise gives itself away on a base that knows the data.
  const Choice& base = options.network.base;
  if (method.kind == kAutoMethod && (IsLearnedHere(base) || IsBaseFile(base))) method = "draws";
  if (method.kind != kAutoMethod) ResolveObjective(options);
  options.data.data = Absolute(options.data.data);
  options.data.validation = Absolute(options.data.validation);
  options.data.table.variables = Absolute(options.data.table.variables);
  NetworkOptions& network = options.network;
  if (network.IsFile()) network.model.kind = Absolute(network.model.kind);
  if (IsBaseFile(network.base)) network.base.kind = Absolute(network.base.kind);
  if (method.kind != kAutoMethod) ResolveBase(options);
  options.run.device = ToString(ParseDevice(options.run.device));
  return options;
}

}  // namespace ort_ed
