#include "models/base/base_distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "ort_ed/options.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr double kNormalised = 1e-4;

void CheckMean(std::span<const float> mean, const Variables& variables) {
  if (static_cast<int64_t>(mean.size()) != variables.dimension()) {
    throw Error(ErrorCode::kInvalidArgument, "the base distribution has " + std::to_string(mean.size()) +
                                                 (variables.all_binary() ? " variables" : " bits") +
                                                 ", the model " + std::to_string(variables.dimension()));
  }
  for (int64_t v = 0; v < variables.size(); ++v) {
    const auto own =
        mean.subspan(static_cast<size_t>(variables.first_bit(v)), static_cast<size_t>(variables.bits(v)));
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    if (own.size() > 1 && std::abs(sum - 1) > kNormalised)
      throw Error(ErrorCode::kInvalidArgument, "the base's probabilities of the states of '" +
                                                   variables.Name(v) + "' add up to " + Decimal(sum) +
                                                   ", not to 1");
  }
  for (size_t i = 0; i < mean.size(); ++i) {
    if (mean[i] > 0 && mean[i] < 1) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "the base mean of " +
                    (variables.all_binary() ? "variable " + std::to_string(i)
                                            : variables.BitName(static_cast<int64_t>(i))) +
                    " is " + Decimal(mean[i]) + "; it must lie between 0 and 1, so smooth it");
  }
}

// Of a binary variable -x log m - (1 - x) log(1 - m); of another -sum_k x_k log m_k, since one x_k is 1.
Value NegativeLogProbability(const Value& x, std::span<const float> mean, const Variables& variables) {
  std::vector<float> weights;
  double constant = 0;
  for (size_t i = 0; i < mean.size(); ++i) {
    const double m = mean[i];
    const bool binary = variables.bits(variables.variable_of(static_cast<int64_t>(i))) == 1;
    weights.push_back(static_cast<float>((binary ? std::log1p(-m) : 0) - std::log(m)));
    if (binary) constant -= std::log1p(-m);
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(mean.size())};
  return MatMul(x, x.graph->Constant(shape, weights)) + static_cast<float>(constant);
}

}  // namespace

void AddBaseDistribution(onnx::ModelProto& model, std::span<const float> mean) {
  const EnergyContract contract = CheckContract(model, "the model");
  const Variables variables = GetVariables(model, contract.dimension);
  CheckMean(mean, variables);
  if (!GetMetadata(model, metadata_key::kBaseMean).empty() ||
      !GetMetadata(model, metadata_key::kBase).empty())
    throw Error(ErrorCode::kInvalidArgument, "the model already has a base distribution");

  GraphBuilder graph(model);
  Value net = graph.Renamed(graph.Existing(contract.output), graph.FreshName("net_energy"));
  if (contract.output_rank != 1) net = Reshape(net, std::vector<int64_t>{0});
  const Value x = graph.Existing(contract.input);
  const Value energy = graph.Renamed(net + NegativeLogProbability(x, mean, variables), contract.output);
  graph.graph().clear_output();
  graph.Output(energy, std::vector<int64_t>{-1});

  RemoveStaleMetadata(model);
  std::vector<std::string> decimals;
  for (const float m : mean) decimals.push_back(Decimal(m));
  SetMetadata(model, metadata_key::kBaseMean, Join(decimals, ","));
}

Variables GetVariables(const onnx::ModelProto& model, int64_t dimension) {
  const std::string text = GetMetadata(model, metadata_key::kVariables);
  return text.empty() ? Variables::Binary(dimension) : ParseVariables(text);
}

std::vector<float> SmoothedMean(std::span<const double> mean, double smoothing, const Variables& variables) {
  std::vector<float> smoothed;
  for (const double m : mean) {
    const int64_t states = variables.states(variables.variable_of(std::ssize(smoothed)));
    const double even = states == 2 ? smoothing : 2 * smoothing / static_cast<double>(states);
    smoothed.push_back(static_cast<float>(m * (1 - 2 * smoothing) + even));
    if (!(smoothed.back() > 0 && smoothed.back() < 1))
      throw OptionError("base_smoothing", "must be larger: the base mean of variable " +
                                              std::to_string(smoothed.size() - 1) + " would be " +
                                              Decimal(smoothed.back()));
  }
  return smoothed;
}

}  // namespace ort_ed
