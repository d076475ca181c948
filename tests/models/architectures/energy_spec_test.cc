#include "models/architectures/energy_spec.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/architectures/architectures.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

std::map<std::string, std::string> Metadata(const onnx::ModelProto& model) {
  std::map<std::string, std::string> entries;
  for (const auto& entry : model.metadata_props()) entries[entry.key()] = entry.value();
  return entries;
}

void ExpectRejected(const EnergySpec& spec, const std::string& part, const std::string& other = "") {
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { BuildModel(spec); }, part, other);
}

TEST(EnergySpec, MetadataTellsWhatTheModelIs) {
  const auto metadata = Metadata(BuildModel({.architecture = {"mlp", {{"hidden", "4,3"}}},
                                             .image_shape = {2, 3},
                                             .base_mean = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.25f}}));
  EXPECT_EQ(metadata.at(metadata_key::kFormatVersion), "1");
  EXPECT_EQ(metadata.at(metadata_key::kDimension), "6");
  EXPECT_EQ(metadata.at(metadata_key::kImageShape), "2x3");
  EXPECT_EQ(metadata.at(metadata_key::kArchitecture), "mlp");
  EXPECT_EQ(metadata.at(metadata_key::kArchitectureOptions),
            R"({"activation":"swish","hidden":"4,3","input":"bits","slope":"layer"})");
  EXPECT_EQ(metadata.at(metadata_key::kBaseMean), "0.1,0.2,0.3,0.4,0.5,0.25");
}

TEST(EnergySpec, MetadataHoldsNoImageShapeAndNoBaseWhereThereIsNone) {
  const auto metadata = Metadata(BuildModel({.architecture = "ising", .dimension = 3}));
  EXPECT_FALSE(metadata.contains(metadata_key::kImageShape));
  EXPECT_FALSE(metadata.contains(metadata_key::kBaseMean));
}

TEST(EnergySpec, TakesTheDimensionFromShapeOrBase) {
  EXPECT_EQ(
      Metadata(BuildModel({.architecture = "ising", .image_shape = {3, 4}})).at(metadata_key::kDimension),
      "12");
  EXPECT_EQ(
      Metadata(BuildModel({.architecture = "ising", .base_mean = {0.5f, 0.5f}})).at(metadata_key::kDimension),
      "2");
}

TEST(EnergySpec, UnknownNamesListTheCandidates) {
  ExpectRejected({.architecture = "transformer", .dimension = 3}, "'transformer'", "ising, rbm, mlp, resnet");
  ExpectRejected({.architecture = {"mlp", {{"width", "3"}}}, .dimension = 3}, "width is no option of mlp",
                 "hidden, activation, slope, input");
  ExpectRejected({.architecture = {"mlp", {{"activation", "gelu"}}}, .dimension = 3}, "'gelu'",
                 "swish, relu, tanh, softplus");
  ExpectRejected({.architecture = {"mlp", {{"slope", "x"}}}, .dimension = 3}, "fixed, layer, unit");
  ExpectRejected({.architecture = {"mlp", {{"input", "x"}}}, .dimension = 3}, "bits, spins");
  ExpectRejected({.architecture = {"ising", {{"init", "x"}}}, .dimension = 3}, "dense, zero, lattice");
}

TEST(EnergySpec, BadValuesNameTheOption) {
  for (const char* hidden : {"", "0", "-3", "3,", "3,,3", "3.5", "3 3", "three", "99999999999999999999"})
    ExpectRejected({.architecture = {"mlp", {{"hidden", hidden}}}, .dimension = 3}, "hidden must");
  for (const char* scale : {"", "nan", "inf", "1e999", "0.1x", "one"})
    ExpectRejected({.architecture = {"rbm", {{"scale", scale}}}, .dimension = 3}, "scale must");
  ExpectRejected({.architecture = {"rbm", {{"hidden", "2,2"}}}, .dimension = 3}, "hidden must");
  ExpectRejected({.architecture = {"ising", {{"field", "yes"}}}, .dimension = 3}, "field must");
  ExpectRejected({.architecture = {"resnet", {{"blocks", "-1"}}}, .image_shape = {3, 3}}, "blocks must");
}

TEST(EnergySpec, MistakesTellTheirOption) {
  const auto key = [](const EnergySpec& spec) -> std::string {
    try {
      BuildModel(spec);
    } catch (const OptionError& error) {
      return error.key();
    }
    return "";
  };
  EXPECT_EQ(key({.architecture = "transformer", .dimension = 3}), "architecture");
  EXPECT_EQ(key({.architecture = {"mlp", {{"width", "3"}}}, .dimension = 3}), "width");
  EXPECT_EQ(key({.architecture = {"mlp", {{"hidden", std::vector<int64_t>{3, 0}}}}, .dimension = 3}),
            "hidden");
  EXPECT_EQ(key({.architecture = {"rbm", {{"hidden", 0.5}}}, .dimension = 3}), "hidden");
  EXPECT_EQ(key({.architecture = {"ising", {{"field", "yes"}}}, .dimension = 3}), "field");
  EXPECT_EQ(key({.architecture = "resnet", .dimension = 9}), "image_shape");
  EXPECT_EQ(key({.architecture = "mlp"}), "dimension");
}

TEST(EnergySpec, OptionsMayBeValuesInsteadOfText) {
  const auto bytes = [](OptionMap options) {
    return BuildModel({.architecture = {"mlp", std::move(options)}, .dimension = 3}).SerializeAsString();
  };
  EXPECT_EQ(bytes({{"hidden", std::vector<int64_t>{4, 3}}}), bytes({{"hidden", "4,3"}}));
  EXPECT_EQ(bytes({{"hidden", int64_t{4}}}), bytes({{"hidden", "4"}}));
}

TEST(EnergySpec, BadDimensions) {
  ExpectRejected({.architecture = "mlp"}, "dimension is missing");
  ExpectRejected({.architecture = "mlp", .dimension = -1}, "-1");
  ExpectRejected({.architecture = "mlp", .dimension = 5, .image_shape = {2, 3}}, "2x3 has 6 variables",
                 "the 5 variables of a row");
  ExpectRejected({.architecture = "mlp", .image_shape = {0, 3}}, "0x3");
  ExpectRejected({.architecture = "resnet", .dimension = 9}, "resnet needs an image shape");
  ExpectRejected({.architecture = {"ising", {{"init", "lattice"}}}, .dimension = 9}, "needs an image shape");
  ExpectRejected({.architecture = "mlp", .dimension = 3, .base_mean = {0.5f}}, "base distribution has 1",
                 "model 3");
}

TEST(EnergySpec, TooManyParametersAreRefusedBeforeTheyAreMade) {
  ExpectRejected({.architecture = {"mlp", {{"hidden", "1000000,1000000"}}}, .dimension = 3}, "2 GiB");
  ExpectRejected({.architecture = "ising", .dimension = int64_t{1} << 20}, "2 GiB");
}

// Every model that is made can be read.
TEST(EnergySpec, HasTheLimitsOfReading) {
  ExpectRejected({.architecture = "mlp", .dimension = (int64_t{1} << 20) + 1}, "dimension", "[1, 1048576]");
  ExpectRejected({.architecture = "mlp", .image_shape = {1024, 1025}}, "1048576 pixels", "1024x1025");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { ParseImageShape("1073741824x1073741824"); }, "1048576 pixels");
  std::string layers = "2";
  for (int i = 1; i < 8000; ++i) layers += ",2";
  ExpectRejected({.architecture = {"mlp", {{"hidden", layers}}}, .dimension = 3}, "16384", "fewer layers");
}

TEST(EnergySpec, ImageShapesAreParsed) {
  EXPECT_THAT(ParseImageShape("28x30"), ElementsAre(28, 30));
  EXPECT_TRUE(ParseImageShape("").empty());
  for (const char* text :
       {"28", "28x", "x28", "28x28x3", "0x3", "-1x3", "3 x3", "28X28", "axb", "+3x3", "03x3"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { ParseImageShape(text); }, "image_shape", "28x28");
}

TEST(Registry, EveryDefaultIsValid) {
  for (const ArchitectureKind* architecture : Architectures()) {
    const Schema& schema = architecture->schema();
    EnergySpec spec{.architecture = architecture->name, .image_shape = {3, 3}};
    for (const Option& option : schema.options)
      if (option.conditions.empty())
        spec.architecture.options[option.key] = FormatOption(option.Get(schema.defaults));
    EXPECT_NO_THROW(BuildModel(spec)) << architecture->name;
    EXPECT_EQ(&FindArchitecture(architecture->name), architecture);
  }
}

TEST(Text, SplitsAndJoins) {
  EXPECT_THAT(Split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
  EXPECT_EQ(Join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(Text, DecimalsReadBackExactly) {
  for (const float value : {0.1f, 1.0f / 3, 1e-30f, 0.999999f})
    EXPECT_EQ(std::strtof(Decimal(value).c_str(), nullptr), value);
}

TEST(Text, JsonStringsAreEscaped) { EXPECT_EQ(JsonString("a\"b\\c\n"), R"("a\"b\\c\u000a")"); }

}  // namespace
}  // namespace ort_ed
