// Models that break the energy model contract or are no models at all.
#include <filesystem>

#include <sys/stat.h>

#include "ort_ed/energy_model.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/gate/model_gate.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

template <typename... Parts>
void ExpectRejected(const std::string& model, const Parts&... parts) {
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromMemory(Bytes(model), {}, "bad.onnx"); }, "bad.onnx",
      parts...);
}

// `signature`: "float[N, 3] x) => (float[N] energy"; `body`: nodes.
std::string Graph(const std::string& signature, const std::string& body) {
  return ModelFromText("<ir_version: 8, opset_import: [\"\": 17]> g (" + signature + ") { " + body + " }");
}

const char kSum[] = "axes = Constant <value = int64[1] {1}> () energy = ReduceSum <keepdims = 0> (x, axes)";

TEST(BadModel, WhatIsNoOnnxFileIsRejected) {
  ExpectRejected("");
  ExpectRejected("id,age\n1,2\n");
  ExpectRejected(std::string(1000, '\0'));
  ExpectRejected("\x89PNG\r\n\x1a\n and so on");
}

TEST(BadModel, ATruncatedFileIsRejectedWhereverItEnds) {
  const std::string whole = MlpModel(8, {8});
  for (size_t size = 0; size + 8 < whole.size(); size += 7) ExpectRejected(whole.substr(0, size));
}

TEST(BadModel, FilesThatCannotBeReadAreNamed) {
  const TempDir folder;
  ExpectError(
      ErrorCode::kIo, [&] { EnergyModel::FromFile(folder.File("none.onnx")); }, "none.onnx", "no such file");
  ExpectError(
      ErrorCode::kIo, [&] { EnergyModel::FromFile(folder.path()); }, "folder");
  WriteFileAtomically(folder.File("empty.onnx"), "");
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromFile(folder.File("empty.onnx")); }, "empty.onnx");
}

TEST(BadModel, TheInputMustBeOneFloatMatrixWithFixedWidth) {
  ExpectRejected(Graph("float[N, 3] x, float[N, 3] y) => (float[N, 3] energy", "energy = Add(x, y)"),
                 "2 inputs", "'x', 'y'");
  ExpectRejected(Graph(") => (float[1] energy", "energy = Constant <value = float[1] {1.0}> ()"), "0 inputs");
  ExpectRejected(Graph("double[N, 3] x) => (double[N] energy", kSum), "'x'", "float64", "must be float32");
  ExpectRejected(Graph("float[N] x) => (float[N] energy", "energy = Neg(x)"), "'x'", "[N]", "rank 2");
  ExpectRejected(Graph("float[N, 1, 28, 28] x) => (float[N, 28, 28] energy", kSum), "[N, 1, 28, 28]",
                 "rank 2");
  ExpectRejected(Graph("float[N, D] x) => (float[N] energy", kSum), "[N, D]", "must be fixed");
  ExpectRejected(Graph("float[16, 3] x) => (float[16] energy", kSum), "fixed at 16", "dynamic batch");
}

TEST(BadModel, TheOutputMustBeOneFloatForEachRow) {
  ExpectRejected(Graph("float[N, 3] x) => (float[N, 3] energy", "energy = Neg(x)"), "'energy'", "[2, 3]");
  ExpectRejected(Graph("float[N, 3] x) => (float energy", "energy = ReduceSum <keepdims = 0> (x)"), "[]");
  ExpectRejected(Graph("float[N, 3] x) => (int64[N] energy", "energy = ArgMax <axis = 1, keepdims = 0> (x)"),
                 "int64", "must be float32");
  ExpectRejected(Graph("float[N, 3] x) => (float[N, 3] a, float[N, 3] b", "a = Neg(x) b = Abs(x)"),
                 "'a', 'b'", "'energy'");
}

TEST(BadModel, ABatchBakedIntoTheGraphIsFoundByRunningIt) {
  ExpectRejected(
      Graph("float[N, 3] x) => (float[N] energy",
            "shape = Constant <value = int64[2] {1, 3}> () r = Reshape(x, shape) "
            "axes = Constant <value = int64[1] {1}> () energy = ReduceSum <keepdims = 0> (r, axes)"),
      "does not run");
}

TEST(BadModel, AnUnknownOperatorIsNamed) {
  ExpectRejected(Graph("float[N, 3] x) => (float[N] energy", "energy = Frobnicate(x)"), "Frobnicate");
}

class ExternalData : public testing::Test {
 protected:
  // Writes the model into <temp>/in/model.onnx with the weights at `location`, and the weights to `file`.
  void Write(const std::string& location, const std::filesystem::path& file) {
    std::filesystem::create_directories(folder_.path() / "in");
    const ExternalModel external = WithExternalData(LinearModel(400), "w", location);
    WriteFileAtomically(model_, external.model);
    WriteFileAtomically(file, external.values);
  }

  TempDir folder_;
  std::string model_ = folder_.File("in/model.onnx");
};

TEST_F(ExternalData, NextToTheModelIsRead) {
  Write("weights.bin", folder_.path() / "in" / "weights.bin");
  const EnergyModel model = EnergyModel::FromFile(model_);
  std::vector<float> energies(1);
  model.Energy(std::vector<uint8_t>(400, 1), energies);
  EXPECT_EQ(energies[0], 400 * 401 / 2);
}

TEST_F(ExternalData, AMissingFileIsNamed) {
  Write("weights.bin", folder_.path() / "other.bin");
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromFile(model_); }, "model.onnx", "weights.bin");
}

TEST_F(ExternalData, OutsideTheModelsFolderIsRefused) {
  const std::string outside = folder_.File("weights.bin");
  for (const std::string& location :
       {std::string("../weights.bin"), outside, std::string("x/../../weights.bin")}) {
    Write(location, outside);
    ExpectError(
        ErrorCode::kBadModel, [&] { EnergyModel::FromFile(model_); }, "model.onnx", location,
        "outside the model's folder");
  }
}

TEST_F(ExternalData, ASymbolicLinkOutOfTheFolderIsRefused) {
  const auto outside = folder_.path() / "weights.bin";
  Write("link.bin", outside);
  std::filesystem::create_symlink(outside, folder_.path() / "in" / "link.bin");
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromFile(model_); }, "link.bin", "outside the model's folder");
}

// Whoever opens a pipe waits for somebody who writes to it.
TEST_F(ExternalData, APipeOrFolderIsRefused) {
  Write("pipe", folder_.path() / "in" / "other");
  ASSERT_EQ(mkfifo((folder_.path() / "in" / "pipe").c_str(), 0600), 0);
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromFile(model_); }, "'pipe'", "no file but a pipe");
  Write(".", folder_.path() / "in" / "other");
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromFile(model_); }, "no file but a pipe, device or folder");
}

TEST_F(ExternalData, IsFoundInSubgraphsAttributesAndFunctions) {
  const std::string outside = ExternalTensorsEverywhere("../weights.bin");
  int places = 0;
  for (size_t at = 0; (at = outside.find("../weights.bin", at)) != std::string::npos; ++at) {
    std::string one = outside;  // all but one location are harmless
    for (size_t other = 0; (other = one.find("../weights.bin", other)) != std::string::npos; ++other)
      if (other != at) one.replace(other, 3, "in/");
    ExpectError(
        ErrorCode::kBadModel, [&] { AdmitModel(Bytes(one), model_, model_); }, "../weights.bin");
    ++places;
  }
  EXPECT_EQ(places, 14);
}

// Forms that protobuf reads and nobody writes: a group in front, a tag with more bits than it has.
TEST_F(ExternalData, IsFoundBehindUnusualEncodings) {
  const std::string plain = WithExternalData(LinearModel(400), "w", "../weights.bin").model;
  const std::string group = "\xa3\x06\x08\x01\xa4\x06";  // field 100 with a varint inside
  const auto graph = plain.find('\x3a');                 // field 7, length-delimited
  ASSERT_NE(graph, std::string::npos);
  std::string long_tag = plain;
  long_tag.replace(graph, 1, "\xba\x80\x80\x80\x70");
  for (const std::string& model : {group + plain, long_tag})
    ExpectError(
        ErrorCode::kBadModel, [&] { AdmitModel(Bytes(model), model_, model_); }, "../weights.bin");
}

TEST_F(ExternalData, CannotBeToldOfDamagedBytes) {
  const std::string model = LinearModel(400);
  EXPECT_TRUE(AdmitModel(Bytes(model), model_, model_));
  EXPECT_FALSE(AdmitModel(Bytes(model.substr(0, model.size() - 5)), model_, model_));
  EXPECT_FALSE(AdmitModel(Bytes("\xa3\x06" + model), model_, model_));  // a group without end
  EXPECT_FALSE(AdmitModel(Bytes(model + "\xa4\x06"), model_, model_));  // an end without group
}

TEST_F(ExternalData, AModelInMemoryHasNone) {
  const ExternalModel external = WithExternalData(LinearModel(400), "w", "weights.bin");
  ExpectError(
      ErrorCode::kBadModel, [&] { EnergyModel::FromMemory(Bytes(external.model)); }, "weights.bin",
      "load it from its file");
}

}  // namespace
}  // namespace ort_ed
