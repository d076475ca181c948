// A model that passes `check` is trained, exported and scored.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/graph/model_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

struct Exported {
  const char* name;
  const char* text;
  void (*change)(onnx::ModelProto& model) = nullptr;
};

void PrintTo(const Exported& model, std::ostream* out) { *out << model.name; }

void SpellStandardOut(onnx::ModelProto& model) {
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  for (auto& node : *model.mutable_graph()->mutable_node()) node.set_domain("ai.onnx");
}

void Unsort(onnx::ModelProto& model) { model.mutable_graph()->mutable_node()->SwapElements(0, 1); }

void LeaveOutShape(onnx::ModelProto& model) {
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
}

constexpr char kPlain[] = R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[batch, 16] x) => (float[batch] energy)
    <float[16] w = {0.3, -0.7, 1.1, 0.2, 0.5, -0.1, 0.4, 0.9, 0.3, -0.7, 1.1, 0.2, 0.5, -0.1, 0.4, 0.9}> {
      t = Tanh(x) energy = MatMul(t, w) })";

constexpr Exported kModels[] = {
    {"Plain", kPlain},
    {"StandardDomainSpeltOut", kPlain, SpellStandardOut},
    {"UnsortedNodes", kPlain, Unsort},
    {"OutputWithoutShape", kPlain, LeaveOutShape},
    {"GroupNormalizationSwishConv", R"(<ir_version: 8, opset_import: ["": 21]>
        g (float[batch, 16] x) => (float[batch] energy)
        <float[4,1,1,1] v = {0.5, -0.4, 0.3, 0.7}, float[4] s = {1, 1, 1, 1}, float[4] b = {0, 0, 0, 0},
         float[1,4,1,2] w = {0.3, -0.7, 1.1, 0.2, 0.5, -0.1, 0.4, 0.9}, int64[4] shape = {-1, 1, 4, 4},
         int64[3] axes = {1, 2, 3}> {
          image = Reshape(x, shape) c = Conv(image, v) n = GroupNormalization<num_groups = 2>(c, s, b)
          z = Sigmoid(n) a = Mul(n, z) d = Conv(a, w) energy = ReduceSum<keepdims = 0>(d, axes) })"},
    {"FunctionsOfAnOlderOpset", R"(<ir_version: 8, opset_import: ["": 17, "local": 1]>
        g (float[batch, 16] x) => (float[batch] energy)
        <float[16] w = {0.3, -0.7, 1.1, 0.2, 0.5, -0.1, 0.4, 0.9, 0.3, -0.7, 1.1, 0.2, 0.5, -0.1, 0.4, 0.9}> {
          t = local.act(x) energy = local.product(t, w) }
        <domain: "local", opset_import: ["": 13]> act (x) => (y) { y = Tanh(x) }
        <domain: "local", opset_import: ["": 12]> product (x, w) => (y) { y = MatMul(x, w) })"},
};

class Agreement : public testing::TestWithParam<Exported> {};

TEST_P(Agreement, WhatPassesTheCheckPassesEverywhere) {
  const TempDir folder;
  onnx::ModelProto model = ParseModel(ModelFromText(GetParam().text), "model");
  if (GetParam().change) GetParam().change(model);
  const std::string path = folder.path() / "model.onnx", rows = folder.path() / "rows.csv",
                    run = folder.path() / "run", exported = folder.path() / "exported.onnx";
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  std::ofstream file(rows);
  for (int row = 0; row < 20; ++row)
    for (int i = 0; i < 16; ++i) file << (row * 7 + i * 5 + row * i) % 3 % 2 << (i == 15 ? '\n' : ',');
  file.close();
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"check", path},
           {"train", "--data", rows, "--model", path, "--method", "bernoulli", "--steps", "5", "-o", run},
           {"export", path, "--with-gradient", "-o", exported},
           {"score", path, rows},
           {"score", exported, rows}}) {
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments[0] << ": " << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Agreement, testing::ValuesIn(kModels),
                         [](const auto& test) { return test.param.name; });

TEST(CheckAgreement, RowsThatAreSqueezedAwayAreAProblem) {
  const TempDir folder;
  const std::string path = folder.path() / "model.onnx", rows = folder.path() / "rows.csv";
  std::ofstream(path, std::ios::binary) << ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      g (float[batch, 2] x) => (float[batch] energy) <float[2,1] w = {0.3, -0.7}> {
        h = MatMul(x, w) t = Tanh(h) energy = Squeeze(t) })");
  std::ofstream(rows) << "0,1\n";
  EXPECT_EQ(RunOrtEd({"score", path, rows}).exit_code, 1);
  const CommandResult result = RunOrtEd({"check", path});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, testing::HasSubstr("Squeeze"));
}

}  // namespace
}  // namespace ort_ed
