#include "tools/jobs/train/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/metadata.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

// U(x) = x . weight
onnx::ModelProto Linear() {
  return ParseModel(ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[batch, 2] x) => (float[batch] energy) <float[2] weight = {0, 0}> { energy = MatMul(x, weight) })"),
                    "linear");
}

Checkpoint Trained() {
  Checkpoint checkpoint;
  checkpoint.state = {{"energy", "parameters", "weight", {2}, {1, 2}},
                      {"energy", "average", "weight", {2}, {3, 4}}};
  onnx::ModelProto model = Linear();
  SetMetadata(model, metadata_key::kTraining, R"({"steps":5})");
  RemoveParameters(model, checkpoint.state);
  checkpoint.model = SerializeModel(model);
  return checkpoint;
}

std::vector<float> Energies(const onnx::ModelProto& model) {
  const std::string bytes = SerializeModel(model);
  const EnergyModel energy_model = EnergyModel::FromMemory(Bytes(bytes));
  const std::vector<uint8_t> rows = {1, 0, 0, 1};
  std::vector<float> energies(2);
  energy_model.Energy(rows, energies);
  return energies;
}

TEST(Export, CheckpointGivesAveragedOrRawWeights) {
  const Checkpoint checkpoint = Trained();
  EXPECT_THAT(Energies(RestoreModel(checkpoint, Weights::kAverage)), testing::ElementsAre(3, 4));
  EXPECT_THAT(Energies(RestoreModel(checkpoint, Weights::kRaw)), testing::ElementsAre(1, 2));
  const auto weights = [&](Weights which) {
    const auto model = RestoreModel(checkpoint, which);
    return nlohmann::json::parse(GetMetadata(model, metadata_key::kTraining))["weights"];
  };
  EXPECT_EQ(weights(Weights::kAverage), "ema");
  EXPECT_EQ(weights(Weights::kRaw), "raw");
}

TEST(Export, ThresholdZeroesSmallEntriesAndForgetsLogZ) {
  onnx::ModelProto model = RestoreModel(Trained(), Weights::kRaw);
  SetMetadata(model, metadata_key::kLogZ, "3");
  const Sparsity none = ThresholdParameters(model, 1, {"*"});
  EXPECT_EQ(none.zeros, 0);
  EXPECT_THAT(Energies(model), testing::ElementsAre(1, 2));
  const Sparsity one = ThresholdParameters(model, 1.5, {"w*"});
  EXPECT_EQ(one.zeros, 1);
  EXPECT_EQ(one.entries, 2);
  EXPECT_THAT(Energies(model), testing::ElementsAre(0, 2));
  EXPECT_EQ(GetMetadata(model, metadata_key::kLogZ), "");
  EXPECT_EQ(nlohmann::json::parse(GetMetadata(model, metadata_key::kTraining))["threshold"], 1.5);
  const auto refused = [&](double threshold, const char* pattern, const char* message) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { ThresholdParameters(model, threshold, {pattern}); }, message);
  };
  refused(0, "*", "must be positive");
  refused(1, "bias", "weight");
}

TEST(Export, WithoutAverageTheParametersAreDeployed) {
  Checkpoint checkpoint = Trained();
  checkpoint.state.pop_back();
  EXPECT_THAT(Energies(RestoreModel(checkpoint, Weights::kAverage)), testing::ElementsAre(1, 2));
}

TEST(Export, ParametersAreNotStoredTwice) {
  EXPECT_LT(Trained().model.size(), SerializeModel(RestoreModel(Trained(), Weights::kRaw)).size());
}

TEST(Export, StateOfAnotherModelIsRefused) {
  Checkpoint checkpoint = Trained();
  checkpoint.state[1].parameter = "bias";
  ExpectError(
      ErrorCode::kBadData, [&] { RestoreModel(checkpoint, Weights::kAverage); }, "bias");
  checkpoint = Trained();
  checkpoint.state[1].values.push_back(0);
  ExpectError(
      ErrorCode::kBadData, [&] { RestoreModel(checkpoint, Weights::kAverage); }, "weight");
}

// Somebody may have sent it.
TEST(Export, TheModelOfACheckpointPassesTheGate) {
  Checkpoint checkpoint = Trained();
  checkpoint.model = ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[batch, 2] x) => (float[batch] energy) <float[2] weight = {0, 0}, int32[2] divisor = {1, 2}> {
        bad = Conv <group = 0> (x, weight) energy = MatMul(x, weight) })");
  ExpectError(
      ErrorCode::kBadModel, [&] { RestoreModel(checkpoint, Weights::kRaw); }, "'bad' (Conv)", "group");
  // Nor do its numbers become others behind the gate.
  checkpoint.model = ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[batch, 2] x) => (float[batch] energy) <float[2] weight = {0, 0}, int32[2] divisor = {1, 2}> {
        energy = MatMul(x, weight) whole = Cast <to = 6> (x) half = Div(whole, divisor) })");
  RestoreModel(checkpoint, Weights::kRaw);
  checkpoint.state[0].parameter = "divisor";
  ExpectError(
      ErrorCode::kBadData, [&] { RestoreModel(checkpoint, Weights::kRaw); }, "divisor");
}

TEST(Export, FinishCompletesMetadataAndChecks) {
  onnx::ModelProto model = Linear();
  PrepareForDeployment(model, "linear");
  EXPECT_EQ(GetMetadata(model, metadata_key::kDimension), "2");
  EXPECT_EQ(GetMetadata(model, metadata_key::kFormatVersion), "1");
  model.mutable_graph()->mutable_node(0)->set_op_type("MatMal");
  ExpectError(
      ErrorCode::kBadModel, [&] { PrepareForDeployment(model, "linear"); }, "linear");
}

TEST(Export, StaleMetadataGoesAndTheRestStays) {
  onnx::ModelProto model = Linear();
  for (const char* key :
       {metadata_key::kLogZ, metadata_key::kLogZError, metadata_key::kLogZMethod, metadata_key::kEnergyRows,
        metadata_key::kEnergyQuantiles, metadata_key::kGradientFragment, metadata_key::kArchitecture})
    SetMetadata(model, key, "1");
  RemoveStaleMetadata(model);
  ASSERT_EQ(model.metadata_props_size(), 1);
  EXPECT_EQ(GetMetadata(model, metadata_key::kArchitecture), "1");
}

}  // namespace
}  // namespace ort_ed
