#include "ort_ed/base_distribution.h"

#include <numeric>
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

namespace {

ViewTensors ReadView(const EnergyModel& model, const ViewDescription& description,
                     const std::string& prefix) {
  ViewTensors tensors{.height = description.height,
                      .width = description.width,
                      .view_height = description.view_height,
                      .view_width = description.view_width,
                      .view = {},
                      .places = {},
                      .blocks = {},
                      .output = {}};
  const auto layer = [&](const std::string& name) {
    return ViewTensors::Layer{model.BaseTensor(prefix + name + ".weight"),
                              model.BaseTensor(prefix + name + ".bias")};
  };
  tensors.view = layer("view");
  tensors.places = model.BaseTensor(prefix + "view_place");
  for (int64_t k = 1; k <= description.blocks; ++k) {
    const std::string name = "view_block" + std::to_string(k);
    tensors.blocks.push_back({layer(name), layer(name + "_mix")});
  }
  tensors.output = layer("view_output");
  return tensors;
}

AutoregressiveTensors ReadNetwork(const EnergyModel& model, int64_t network) {
  const AutoregressiveDescription& learned = *model.metadata().base;
  const std::string prefix = BaseNetworkPrefix(network);
  const auto layer = [&](const std::string& name) {
    return AutoregressiveTensors::Layer{model.BaseTensor(prefix + name + ".weight"),
                                        model.BaseTensor(prefix + name + ".bias")};
  };
  AutoregressiveTensors tensors;
  tensors.order = learned.orders[static_cast<size_t>(network)];
  tensors.variables = model.variables();
  if (tensors.order.empty()) {
    tensors.order.resize(static_cast<size_t>(model.variables().size()));
    std::iota(tensors.order.begin(), tensors.order.end(), 0);
  }
  for (int64_t k = 1; k <= learned.hidden_layers; ++k)
    tensors.hidden.push_back(layer("hidden" + std::to_string(k)));
  AutoregressiveTensors::Layer output = layer("output");
  tensors.output = std::move(output.weight);
  tensors.output_bias = std::move(output.bias);
  tensors.direct = model.BaseTensor(prefix + "direct.weight");
  if (learned.view) tensors.view = ReadView(model, *learned.view, prefix);
  return tensors;
}

}  // namespace

std::shared_ptr<const BaseDistribution> MakeBaseDistribution(const EnergyModel& model, int threads) {
  const std::optional<AutoregressiveDescription>& learned = model.metadata().base;
  if (!learned) return std::make_shared<ProductBase>(ProductBase::OfModel(model));
  std::vector<AutoregressiveTensors> networks;
  for (int64_t network = 0; network < std::ssize(learned->orders); ++network)
    networks.push_back(ReadNetwork(model, network));
  try {
    return std::make_shared<AutoregressiveBase>(networks, threads);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadModel, std::string("the base distribution in the model: ") + error.what());
  }
}

}  // namespace ort_ed
