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
  const auto metadata = Metadata(BuildModel({.architecture = "mlp",
                                             .options = {{"hidden", "4,3"}},
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
  ExpectRejected({.architecture = "mlp", .options = {{"width", "3"}}, .dimension = 3},
                 "mlp has no option 'width'", "hidden, activation, slope, input");
  ExpectRejected({.architecture = "mlp", .options = {{"activation", "gelu"}}, .dimension = 3}, "'gelu'",
                 "swish, relu, tanh, softplus");
  ExpectRejected({.architecture = "mlp", .options = {{"slope", "x"}}, .dimension = 3}, "fixed, layer, unit");
  ExpectRejected({.architecture = "mlp", .options = {{"input", "x"}}, .dimension = 3}, "bits, spins");
  ExpectRejected({.architecture = "ising", .options = {{"init", "x"}}, .dimension = 3},
                 "dense, zero, lattice");
}

TEST(EnergySpec, BadValuesNameTheOption) {
  for (const char* hidden : {"", "0", "-3", "3,", "3,,3", "3.5", "3 3", "three", "99999999999999999999"})
    ExpectRejected({.architecture = "mlp", .options = {{"hidden", hidden}}, .dimension = 3},
                   "option 'hidden' of mlp");
  for (const char* scale : {"", "nan", "inf", "1e999", "0.1x", "one"})
    ExpectRejected({.architecture = "rbm", .options = {{"scale", scale}}, .dimension = 3},
                   "option 'scale' of rbm");
  ExpectRejected({.architecture = "rbm", .options = {{"hidden", "2,2"}}, .dimension = 3},
                 "option 'hidden' of rbm");
  ExpectRejected({.architecture = "ising", .options = {{"field", "yes"}}, .dimension = 3},
                 "option 'field' of ising");
  ExpectRejected({.architecture = "resnet", .options = {{"blocks", "-1"}}, .image_shape = {3, 3}},
                 "option 'blocks' of resnet");
}

TEST(EnergySpec, BadDimensions) {
  ExpectRejected({.architecture = "mlp"}, "dimension is missing");
  ExpectRejected({.architecture = "mlp", .dimension = -1}, "-1");
  ExpectRejected({.architecture = "mlp", .dimension = 5, .image_shape = {2, 3}}, "2x3 has 6 variables",
                 "is 5");
  ExpectRejected({.architecture = "mlp", .image_shape = {0, 3}}, "0x3");
  ExpectRejected({.architecture = "resnet", .dimension = 9}, "resnet needs an image shape");
  ExpectRejected({.architecture = "ising", .options = {{"init", "lattice"}}, .dimension = 9},
                 "needs an image shape");
  ExpectRejected({.architecture = "mlp", .dimension = 3, .base_mean = {0.5f}}, "base distribution has 1",
                 "model 3");
}

TEST(EnergySpec, TooManyParametersAreRefusedBeforeTheyAreMade) {
  ExpectRejected({.architecture = "mlp", .options = {{"hidden", "1000000,1000000"}}, .dimension = 3},
                 "2 GiB");
  ExpectRejected({.architecture = "ising", .dimension = int64_t{1} << 30}, "2 GiB");
}

TEST(EnergySpec, ImageShapesAreParsed) {
  EXPECT_THAT(ParseImageShape("28x30"), ElementsAre(28, 30));
  for (const char* text :
       {"", "28", "28x", "x28", "28x28x3", "0x3", "-1x3", "3 x3", "28X28", "axb", "+3x3", "03x3"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { ParseImageShape(text); }, "HEIGHTxWIDTH");
}

TEST(Registry, EveryDefaultIsValid) {
  for (const Architecture* architecture : Architectures()) {
    EnergySpec spec{.architecture = architecture->name, .image_shape = {3, 3}};
    for (const OptionDescription& option : architecture->options)
      spec.options[option.name] = option.default_value;
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
