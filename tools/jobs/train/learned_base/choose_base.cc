#include "tools/jobs/train/learned_base/choose_base.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/architectures/energy_spec.h"
#include "models/base/made_base.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

// Up to so many bits noise learns all there is in seconds, from so many rows that it cannot learn by heart.
constexpr double kFewStates = 10;
constexpr int64_t kManyRows = 1000;
constexpr int64_t kViewHeight = 7, kViewWidth = 15;

double CountBits(const Dataset& dataset) {
  const Variables& variables = dataset.variables;
  if (variables.all_binary()) return static_cast<double>(dataset.training->columns());
  double bits = 0;
  for (int64_t v = 0; v < variables.size(); ++v) bits += std::log2(static_cast<double>(variables.states(v)));
  return bits;
}

Choice ImageBase(const std::vector<int64_t>& shape) {
  const int64_t height = std::min(kViewHeight, shape[0]), width = std::min(kViewWidth, shape[1] | 1);
  return {"made", {{"base_hidden", std::vector<int64_t>{300}}, {"base_view", ShapeText({height, width})}}};
}

Choice RowBase() { return {"made", {{"base_order", "random"}, {"base_race", true}}}; }

}  // namespace

bool IsAtDefault(const Choice& base) {
  NetworkOptions given, defaults;
  given.base = base;
  return GetOptions(SchemaOf<NetworkOptions>(), &given) == GetOptions(SchemaOf<NetworkOptions>(), &defaults);
}

std::optional<Choice> ChooseLearnedBase(const NetworkOptions& network, const Dataset& dataset) {
  const bool open = network.base.kind == "auto" && network.base.options.empty();
  const bool without_fields = network.model.kind == "mlp" || network.model.kind == "resnet";
  if (!open || !without_fields || dataset.training_rows == 0) return std::nullopt;
  if (CountBits(dataset) <= kFewStates && dataset.training_rows >= kManyRows) return std::nullopt;
  const std::vector<int64_t> shape = ParseImageShape(network.image_shape);
  return shape.empty() ? RowBase() : ImageBase(shape);
}

void ChooseBaseByOptions(Choice& base) {
  if (base.kind != "auto") return;
  OptionMap of_made, others;
  for (const auto& [key, value] : base.options)
    (SchemaOf<MadeBaseOptions>().Find(key) != nullptr ? of_made : others)[key] = value;
  if (of_made.empty()) return;
  if (!others.empty() && IsAtDefault(base)) {
    base.options = std::move(others);
  } else if (others.empty() || IsAtDefault({"auto", others})) {
    base = {"made", std::move(of_made)};
  } else {
    throw OptionError(others.begin()->first,
                      fmt::format("has no effect with `base` made, which `{}` chooses; name the base",
                                  of_made.begin()->first),
                      OptionError::Problem::kNoEffect);
  }
}

}  // namespace ort_ed
