#include "ort_ed/base_distribution.h"

#include <optional>
#include <string>
#include <utility>

#include "ort_ed/error.h"

namespace ort_ed {

std::vector<float> BaseDistribution::DrawRows(uint64_t seed, uint64_t first_row, int64_t count) const {
  if (count < 1) throw Error(ErrorCode::kInvalidArgument, "there must be at least one chain");
  int64_t values;
  if (__builtin_mul_overflow(count, dimension(), &values))
    throw Error(ErrorCode::kInvalidArgument, std::to_string(count) + " chains are too many");
  std::vector<float> rows(values);
  Draw(seed, first_row, rows);
  return rows;
}

std::shared_ptr<const BaseDistribution> MakeBaseDistribution(const EnergyModel& model, int threads) {
  const std::optional<AutoregressiveDescription>& learned = model.metadata().base;
  if (!learned) return std::make_shared<ProductBase>(ProductBase::OfModel(model));
  AutoregressiveTensors tensors;
  tensors.order = learned->order;
  for (int64_t variable = 0; learned->order.empty() && variable < model.dimension(); ++variable)
    tensors.order.push_back(variable);
  const auto layer = [&](const std::string& name) {
    return AutoregressiveTensors::Layer{model.BaseTensor(name + ".weight"), model.BaseTensor(name + ".bias")};
  };
  for (int64_t k = 1; k <= learned->hidden_layers; ++k)
    tensors.hidden.push_back(layer("hidden" + std::to_string(k)));
  AutoregressiveTensors::Layer output = layer("output");
  tensors.output = std::move(output.weight);
  tensors.output_bias = std::move(output.bias);
  tensors.direct = model.BaseTensor("direct.weight");
  try {
    return std::make_shared<AutoregressiveBase>(tensors, threads);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadModel, std::string("the base distribution in the model: ") + error.what());
  }
}

}  // namespace ort_ed
