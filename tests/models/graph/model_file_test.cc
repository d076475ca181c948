#include "models/graph/model_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/architectures/energy_spec.h"
#include "tests/models/run_model.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

onnx::ModelProto SmallModel() {
  return BuildModel({.architecture = {"mlp", {{"hidden", "3"}}}, .dimension = 4});
}

void WriteFile(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void ExpectBadModel(const std::string& bytes, const std::string& part) {
  ExpectError(
      ErrorCode::kBadModel, [&] { ParseModel(bytes, "m.onnx"); }, "'m.onnx'", part);
}

TEST(ModelFile, ReadsWhatItWrote) {
  const TempDir folder;
  const onnx::ModelProto model = SmallModel();
  WriteFile(folder.File("m.onnx"), SerializeModel(model));
  EXPECT_EQ(SerializeModel(LoadModel(folder.File("m.onnx"))), SerializeModel(model));
  EXPECT_EQ(SerializeModel(ParseModel(SerializeModel(model), "m")), SerializeModel(model));
}

TEST(ModelFile, NamesAFileThatCannotBeRead) {
  const TempDir folder;
  ExpectError(
      ErrorCode::kIo, [&] { LoadModel(folder.File("none.onnx")); }, "none.onnx", "no such file");
  ExpectError(
      ErrorCode::kIo, [&] { LoadModel(folder.path()); }, "folder");
}

TEST(ModelFile, TellsWhatIsNoOnnxFile) {
  ExpectBadModel("", "is empty");
  ExpectBadModel("hello, world", "is not an ONNX file");
  ExpectBadModel("x,y\n0,1\n", "is not an ONNX file");
  ExpectBadModel("\x93NUMPY\x01", "is not an ONNX file");
  ExpectBadModel(std::string("\0\0\0\0", 4), "is not an ONNX file");
  ExpectBadModel("\x89PNG\r\n\x1a\n", "is not an ONNX file");
}

// A file cut anywhere inside its graph; cut between two fields it is incomplete, elsewhere truncated.
TEST(ModelFile, TellsATruncatedFile) {
  onnx::ModelProto model = SmallModel();
  model.clear_metadata_props();
  const std::string bytes = SerializeModel(model);
  int truncated = 0;
  for (size_t size = 3; size < bytes.size(); ++size) {
    const Error error = ErrorOf([&] { ParseModel(bytes.substr(0, size), "m.onnx"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    truncated += std::strstr(error.what(), "truncated") != nullptr;
  }
  EXPECT_EQ(truncated, static_cast<int>(bytes.size()) - 3);
}

TEST(ModelFile, TellsADamagedFile) {
  onnx::ModelProto model = SmallModel();
  std::string bytes = SerializeModel(model);
  const size_t graph = bytes.find("hidden1.weight");
  bytes.replace(graph - 6, 4, "\xff\xff\xff\xff");
  ExpectBadModel(bytes, "is damaged");
}

TEST(ModelFile, TellsATensorWithOtherValuesThanItsShapeSays) {
  const TempDir folder;
  const auto expect_bad = [&](onnx::ModelProto model, const std::string& part) {
    WriteFile(folder.File("m.onnx"), model.SerializeAsString());
    ExpectError(
        ErrorCode::kBadModel, [&] { LoadModel(folder.File("m.onnx")); }, "m.onnx", "is damaged", part);
  };
  onnx::ModelProto model = SmallModel();
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  const onnx::TensorProto good = tensor;
  tensor.mutable_raw_data()->push_back('x');
  expect_bad(model, "'" + good.name() + "' has");
  tensor.mutable_raw_data()->resize(1);
  expect_bad(model, "has 1 bytes");
  tensor.clear_raw_data();
  tensor.add_float_data(1);
  expect_bad(model, "has 1 values");
  tensor = good;
  tensor.set_dims(0, -4);
  expect_bad(model, "cannot be");
  tensor.set_dims(0, int64_t{1} << 62);
  tensor.set_dims(1, 8);
  expect_bad(model, "cannot be");
  tensor = good;
  onnx::AttributeProto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("body");
  *attribute.mutable_g()->add_initializer() = good;
  attribute.mutable_g()->mutable_initializer(0)->mutable_raw_data()->clear();
  expect_bad(model, "has 0 bytes");
}

TEST(ModelFile, RefusesAModelWithoutGraphOrOpset) {
  onnx::ModelProto model = SmallModel();
  model.clear_opset_import();
  ExpectBadModel(model.SerializeAsString(), "no opset version");
  model = SmallModel();
  model.clear_graph();
  ExpectBadModel(model.SerializeAsString(), "no graph");
}

TEST(ModelFile, RefusesAFileBeyondTwoGibibytes) {
  const TempDir folder;
  WriteFile(folder.File("m.onnx"), SerializeModel(SmallModel()));
  fs::resize_file(folder.File("m.onnx"), uint64_t{1} << 31);  // sparse: takes no space
  ExpectError(
      ErrorCode::kBadModel, [&] { LoadModel(folder.File("m.onnx")); }, "2 GiB");
}

TEST(ModelFile, TheCheckerNamesTheReason) {
  onnx::ModelProto model = SmallModel();
  model.mutable_graph()->mutable_node(0)->set_input(1, "nowhere");
  ExpectError(
      ErrorCode::kBadModel, [&] { CheckOnnx(model, "m.onnx"); }, "'m.onnx' is not valid ONNX", "nowhere");
  model = SmallModel();
  onnx::TensorProto& output_weight = *model.mutable_graph()->mutable_initializer(3);
  ASSERT_EQ(output_weight.name(), "output.weight");
  output_weight.set_dims(0, 1);
  output_weight.set_dims(1, 3);  // three energies a row, where Squeeze wants one
  ExpectError(
      ErrorCode::kBadModel, [&] { CheckOnnx(model, "m.onnx"); }, "not valid ONNX", "must be 1 instead of 3");
}

TEST(ModelFile, TheCheckerPassesOpsetsItDoesNotKnow) {
  onnx::ModelProto model = SmallModel();
  model.mutable_opset_import(0)->set_version(99);
  EXPECT_NO_THROW(CheckOnnx(model, "m.onnx"));
}

// A model with one tensor in another file, next to it in a folder of its own.
class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(home_);
    WriteFile(home_ / "weights.bin", "12345678" + Tensor().raw_data() + "tail");
    WriteFile(folder_.path() / "outside.bin", Tensor().raw_data());
    Tensor().clear_raw_data();
    Tensor().set_data_location(onnx::TensorProto::EXTERNAL);
    Set("location", "weights.bin");
    Set("offset", "8");
    Set("length", "48");
  }

  onnx::TensorProto& Tensor() { return *model_.mutable_graph()->mutable_initializer(0); }

  void Set(const std::string& key, const std::string& value) {
    for (auto& entry : *Tensor().mutable_external_data()) {
      if (entry.key() == key) return entry.set_value(value);
    }
    auto& entry = *Tensor().add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  onnx::ModelProto Load(ExternalData external_data = ExternalData::kLoad) {
    WriteFile(home_ / "m.onnx", SerializeModel(model_));
    return LoadModel(home_ / "m.onnx", external_data);
  }

  void ExpectRefused(const std::string& part) {
    ExpectError(
        ErrorCode::kBadModel, [&] { Load(); }, "m.onnx", "hidden1.weight", part);
  }

  TempDir folder_;
  fs::path home_ = folder_.path() / "home";
  onnx::ModelProto original_ = SmallModel();
  onnx::ModelProto model_ = original_;
};

TEST_F(ExternalDataTest, BecomesPartOfTheModel) {
  EXPECT_EQ(SerializeModel(Load()), SerializeModel(original_));
}

TEST_F(ExternalDataTest, InAFolderBelowAndWithoutLength) {
  fs::create_directory(home_ / "data");
  fs::rename(home_ / "weights.bin", home_ / "data" / "weights.bin");
  Set("location", "data/weights.bin");
  Tensor().mutable_external_data()->RemoveLast();
  EXPECT_EQ(SerializeModel(Load()), SerializeModel(original_));
}

TEST_F(ExternalDataTest, OfAModelNamedByARelativePath) {
  Load();
  const fs::path before = fs::current_path();
  fs::current_path(home_);
  EXPECT_EQ(SerializeModel(LoadModel("m.onnx")), SerializeModel(original_));
  fs::current_path(before);
}

TEST_F(ExternalDataTest, StaysOutsideOnRequest) {
  const onnx::ModelProto kept = Load(ExternalData::kKeep);
  EXPECT_EQ(kept.graph().initializer(0).data_location(), onnx::TensorProto::EXTERNAL);
}

TEST_F(ExternalDataTest, IsRefusedOutsideTheModelsFolder) {
  Set("offset", "0");
  Set("location", (folder_.path() / "outside.bin").string());
  ExpectRefused("absolute path");
  Set("location", "../outside.bin");
  ExpectRefused("outside the model's folder");
  Set("location", "data/../../outside.bin");
  ExpectRefused("outside the model's folder");
  fs::create_symlink(folder_.path() / "outside.bin", home_ / "link.bin");
  Set("location", "link.bin");
  ExpectRefused("a link or path to");
  fs::create_directory_symlink(folder_.path(), home_ / "up");
  Set("location", "up/outside.bin");
  ExpectRefused("a link or path to");
  ExpectError(
      ErrorCode::kBadModel, [&] { Load(ExternalData::kKeep); }, "a link or path to");
  Set("location", "");
  ExpectRefused("no location");
}

TEST_F(ExternalDataTest, IsRefusedAlsoInAttributesAndSubgraphs) {
  onnx::NodeProto& node = *original_.mutable_graph()->add_node();
  onnx::AttributeProto& body = *node.add_attribute();
  onnx::AttributeProto& value = *body.mutable_g()->add_node()->add_attribute();
  *value.mutable_t() = Tensor();
  value.mutable_t()->mutable_external_data(0)->set_value("/etc/passwd");
  model_ = original_;
  ExpectError(
      ErrorCode::kBadModel, [&] { Load(); }, "/etc/passwd", "absolute path");
}

TEST_F(ExternalDataTest, ThatIsMissingOrLying) {
  Set("location", "none.bin");
  ExpectRefused("cannot be read");
  Set("location", "weights.bin");
  Set("length", "47");
  ExpectRefused("47 bytes where its shape needs 48");
  Set("length", "48");
  Set("offset", "13");
  ExpectRefused("truncated");
  Set("offset", "-1");
  ExpectRefused("impossible offset");
  Set("offset", "9223372036854775807");
  ExpectRefused("truncated");
  Set("offset", "0");
  Tensor().set_dims(0, int64_t{1} << 62);
  ExpectRefused("impossible shape");
}

TEST_F(ExternalDataTest, HasNoPlaceInAModelGivenAsBytes) {
  ExpectError(
      ErrorCode::kBadModel, [&] { ParseModel(SerializeModel(model_), "m"); }, "as bytes");
}

}  // namespace
}  // namespace ort_ed
