#include "models/base/base_distribution.h"

#include <algorithm>
#include <cmath>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "ort_ed/options.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

void CheckMean(std::span<const float> mean, int64_t dimension) {
  if (static_cast<int64_t>(mean.size()) != dimension) {
    throw Error(ErrorCode::kInvalidArgument, "the base distribution has " + std::to_string(mean.size()) +
                                                 " variables, the model " + std::to_string(dimension));
  }
  for (size_t i = 0; i < mean.size(); ++i) {
    if (mean[i] > 0 && mean[i] < 1) continue;
    throw Error(ErrorCode::kInvalidArgument, "the base mean of variable " + std::to_string(i) + " is " +
                                                 Decimal(mean[i]) +
                                                 "; it must lie between 0 and 1, so smooth it");
  }
}

// -log p0(x) = -sum_i x_i logit(m_i) - sum_i log(1 - m_i).
Value NegativeLogProbability(const Value& x, std::span<const float> mean) {
  std::vector<float> weights;
  double constant = 0;
  for (const double m : mean) {
    weights.push_back(static_cast<float>(std::log1p(-m) - std::log(m)));
    constant -= std::log1p(-m);
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(mean.size())};
  return MatMul(x, x.graph->Constant(shape, weights)) + static_cast<float>(constant);
}

}  // namespace

void AddBaseDistribution(onnx::ModelProto& model, std::span<const float> mean) {
  const EnergyContract contract = CheckContract(model, "the model");
  CheckMean(mean, contract.dimension);
  if (!GetMetadata(model, metadata_key::kBaseMean).empty() ||
      !GetMetadata(model, metadata_key::kBase).empty())
    throw Error(ErrorCode::kInvalidArgument, "the model already has a base distribution");

  GraphBuilder graph(model);
  Value net = graph.Renamed(graph.Existing(contract.output), graph.FreshName("net_energy"));
  if (contract.output_rank != 1) net = Reshape(net, std::vector<int64_t>{0});
  const Value x = graph.Existing(contract.input);
  const Value energy = graph.Renamed(net + NegativeLogProbability(x, mean), contract.output);
  graph.graph().clear_output();
  graph.Output(energy, std::vector<int64_t>{-1});

  RemoveStaleMetadata(model);
  std::vector<std::string> decimals;
  for (const float m : mean) decimals.push_back(Decimal(m));
  SetMetadata(model, metadata_key::kBaseMean, Join(decimals, ","));
}

std::vector<float> SmoothedMean(std::span<const double> mean, double smoothing) {
  std::vector<float> smoothed;
  for (const double m : mean) {
    smoothed.push_back(static_cast<float>(m * (1 - 2 * smoothing) + smoothing));
    if (!(smoothed.back() > 0 && smoothed.back() < 1))
      throw OptionError("base_smoothing", "must be larger: the base mean of variable " +
                                              std::to_string(smoothed.size() - 1) + " would be " +
                                              Decimal(smoothed.back()));
  }
  return smoothed;
}

}  // namespace ort_ed
