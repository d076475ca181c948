// Likelihoods of held-out rows while a network is trained, against enumeration of the trained model.

#include "tools/jobs/train/validation/held_out_likelihood.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

// Rows whose variables tend to be like the one before.
RowTable Rows(const Variables& variables, int64_t count) {
  RowTable rows{.rows = count, .columns = variables.dimension(), .values = {}};
  rows.values.resize(static_cast<size_t>(count * rows.columns));
  for (int64_t i = 0; i < count; ++i) {
    RandomStream random(7, 1, 0, static_cast<uint64_t>(i));
    int64_t last = 0;
    for (int64_t v = 0; v < variables.size(); ++v) {
      const int64_t states = variables.states(v);
      if (random.Bernoulli(0.4f)) last = random.Below(static_cast<uint32_t>(states));
      variables.SetState(rows.values.data() + i * rows.columns, v, last % states);
    }
  }
  return rows;
}

void ForEachState(const Variables& variables, std::vector<uint8_t>& state, int64_t variable,
                  const std::function<void()>& visit) {
  if (variable == variables.size()) return visit();
  for (int64_t k = 0; k < variables.states(variable); ++k) {
    variables.SetState(state.data(), variable, k);
    ForEachState(variables, state, variable + 1, visit);
  }
}

std::vector<float> Energies(const onnx::ModelProto& model, const std::vector<uint8_t>& rows) {
  const LoadedModel loaded(model, "trained");
  std::vector<float> energies(rows.size() / static_cast<size_t>(loaded.dimension()));
  loaded.energy_model().Energy(rows, energies);
  return energies;
}

double ExactNll(const onnx::ModelProto& model, const Variables& variables, const RowTable& rows) {
  std::vector<uint8_t> states, state(static_cast<size_t>(variables.dimension()));
  ForEachState(variables, state, 0, [&] { states.insert(states.end(), state.begin(), state.end()); });
  double z = 0, sum = 0;
  for (const float energy : Energies(model, states)) z += std::exp(-static_cast<double>(energy));
  for (const float energy : Energies(model, rows.values)) sum += energy;
  return sum / static_cast<double>(rows.rows) + std::log(z);
}

struct Case {
  Variables variables;
  Choice model = {"mlp", {{"hidden", "8"}}};
  Choice base = "auto";
  Choice method = "bernoulli";
};

// The estimate of the training's last validation, and the truth.
std::pair<LikelihoodEstimate, double> Compare(const Case& tried) {
  TrainOptions options;
  options.network.model = tried.model;
  options.network.base = tried.base;
  options.contrast.method = tried.method;
  options.batch.batch_size = 32;
  options.run.steps = 60;
  options.run.threads = 1;
  const auto open = [&] {
    Dataset dataset = DatasetFromRows(Rows(tried.variables, 600), options.data, 0);
    if (tried.variables.described()) dataset.variables = tried.variables;
    return dataset;
  };
  Observer quiet;
  const TrainResult result = Train(options, open(), quiet);
  return {result.validation_likelihood.value(), ExactNll(result.model, tried.variables, open().validation)};
}

const Choice kBase("made", {{"base_hidden", "4"}, {"base_steps", 30}});

TEST(HeldOutLikelihood, IsExactWhereThereAreFewStates) {
  const Variables mixed({{.name = "a", .kind = VariableKind::kNominal, .labels = {"x", "y", "z"}},
                         {.name = "b"},
                         {.name = "c", .kind = VariableKind::kOrdered, .labels = {"1", "2", "3", "4"}}});
  for (const Case& tried :
       {Case{.variables = Variables::Binary(6)}, Case{.variables = Variables::Binary(6), .model = "ising"},
        Case{.variables = mixed, .method = "uniform"},
        Case{.variables = Variables::Binary(6), .base = kBase, .method = "refill"},
        Case{.variables = Variables::Binary(6), .base = kBase},
        Case{.variables = Variables::Binary(6), .model = "made", .method = "likelihood"}}) {
    const auto [estimate, truth] = Compare(tried);
    EXPECT_FALSE(estimate.effective);
    EXPECT_TRUE(estimate.reliable());
    EXPECT_NEAR(estimate.nll, truth, 1e-4);
  }
}

// The error of log Z is about sqrt(1 / effective - 1 / draws), below 0.1 where the estimate is reliable: five
// times that.
TEST(HeldOutLikelihood, IsEstimatedByDrawsWhereThereAreMany) {
  const Variables mixed(std::vector<Variable>{
      {.name = "a", .kind = VariableKind::kNominal, .labels = {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {.name = "b", .kind = VariableKind::kNominal, .labels = {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {.name = "c", .kind = VariableKind::kNominal, .labels = {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {.name = "d", .kind = VariableKind::kNominal, .labels = {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {.name = "e", .kind = VariableKind::kNominal, .labels = {"1", "2", "3", "4", "5", "6", "7", "8"}}});
  for (const Case& tried :
       {Case{.variables = Variables::Binary(15)}, Case{.variables = mixed, .method = "uniform"},
        Case{.variables = Variables::Binary(15), .base = kBase, .method = "refill"}}) {
    const auto [estimate, truth] = Compare(tried);
    ASSERT_TRUE(estimate.effective);
    EXPECT_TRUE(estimate.reliable()) << *estimate.effective;
    EXPECT_NEAR(estimate.nll, truth, 5 / std::sqrt(*estimate.effective));
    EXPECT_NE(estimate.nll, truth);
  }
}

}  // namespace
}  // namespace ort_ed
