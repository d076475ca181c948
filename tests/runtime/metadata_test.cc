#include "ort_ed/metadata.h"

#include <cmath>

#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

TEST(Metadata, EverythingIsOptional) {
  const ModelMetadata metadata = ParseMetadata({});
  EXPECT_FALSE(metadata.dimension);
  EXPECT_FALSE(metadata.image_shape);
  EXPECT_FALSE(metadata.log_z);
  EXPECT_TRUE(metadata.base_mean.empty());
  EXPECT_TRUE(metadata.raw.empty());
}

TEST(Metadata, ReadsEveryKnownEntry) {
  const ModelMetadata metadata = ParseMetadata({{"ort_ed.format_version", "1"},
                                                {"ort_ed.dimension", "6"},
                                                {"ort_ed.image_shape", "2x3"},
                                                {"ort_ed.architecture", "rbm"},
                                                {"ort_ed.base_mean", "0.25,0.5,1e-3,0,1,0.75"},
                                                {"ort_ed.log_z", "-12.5"},
                                                {"ort_ed.log_z_error", "0.125"},
                                                {"ort_ed.log_z_method", "ais"},
                                                {"ort_ed.gradient", "AAAA"},
                                                {"producer", "somebody"}});
  EXPECT_EQ(metadata.dimension, 6);
  EXPECT_THAT(*metadata.image_shape, ElementsAre(2, 3));
  EXPECT_EQ(metadata.architecture, "rbm");
  EXPECT_THAT(metadata.base_mean, ElementsAre(0.25f, 0.5f, FloatEq(1e-3f), 0.0f, 1.0f, 0.75f));
  ASSERT_TRUE(metadata.log_z);
  EXPECT_EQ(metadata.log_z->value, -12.5);
  EXPECT_EQ(metadata.log_z->standard_error, 0.125);
  EXPECT_EQ(metadata.log_z->method, "ais");
  EXPECT_EQ(metadata.raw.size(), 8u);
  EXPECT_FALSE(metadata.raw.contains("ort_ed.gradient"));
  EXPECT_FALSE(metadata.raw.contains("producer"));
}

TEST(Metadata, ABaseHasAnOrderForEachNetwork) {
  const auto orders = [](const std::map<std::string, std::string>& entries) {
    return ParseMetadata(entries).base->orders;
  };
  EXPECT_THAT(orders({{"ort_ed.base", "made:2"}}), ElementsAre(ElementsAre()));
  EXPECT_THAT(orders({{"ort_ed.base", "made:2"}, {"ort_ed.base_order", "1,0"}}),
              ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(orders({{"ort_ed.base", "made:1x2"}, {"ort_ed.base_order", "1,0;0,1"}}),
              ElementsAre(ElementsAre(1, 0), ElementsAre(0, 1)));
  for (const char* other : {"1,0", "1,0;0,1;1,0", "1,0;", "1,0;a"})
    ExpectError(
        ErrorCode::kBadModel,
        [&] {
          orders({{"ort_ed.base", "made:1x2"}, {"ort_ed.base_order", other}});
        },
        "ort_ed.base_order");
}

TEST(Metadata, WhatDoesNotParseIsRejectedByKey) {
  const std::pair<const char*, const char*> bad[] = {
      {"ort_ed.format_version", "one"}, {"ort_ed.dimension", "0"},         {"ort_ed.dimension", "12 "},
      {"ort_ed.dimension", ""},         {"ort_ed.image_shape", "28"},      {"ort_ed.image_shape", "28x28x1"},
      {"ort_ed.image_shape", "28x0"},   {"ort_ed.image_shape", "28x"},     {"ort_ed.base_mean", "0.5,,0.5"},
      {"ort_ed.base_mean", "0.5,1.5"},  {"ort_ed.base_mean", "nan"},       {"ort_ed.base_mean", ""},
      {"ort_ed.variables", "[]"},       {"ort_ed.variables", "a,b"},       {"ort_ed.log_z", "large"},
      {"ort_ed.log_z", "inf"},          {"ort_ed.log_z", "nan"},           {"ort_ed.base", "made"},
      {"ort_ed.base", "made:"},         {"ort_ed.base", "made:1x0"},       {"ort_ed.base", "made:1x2x3"},
      {"ort_ed.base", "made:x2"},       {"ort_ed.base", "made:1x1000000"},
  };
  for (const auto& [key, value] : bad)
    ExpectError(
        ErrorCode::kBadModel,
        [&] {
          ParseMetadata({{key, value}});
        },
        key, std::string("'") + value + "'");
  ExpectError(
      ErrorCode::kBadModel,
      [&] {
        ParseMetadata({{"ort_ed.log_z", "1"}, {"ort_ed.log_z_error", "-1"}});
      },
      "ort_ed.log_z_error");
}

TEST(Metadata, EnergiesOfTrainingRowsAreAscending) {
  const auto parse = [](const char* quantiles, const char* rows) {
    return ParseMetadata({{"ort_ed.energy_quantiles", quantiles}, {"ort_ed.energy_rows", rows}});
  };
  const EnergySketch sketch = *parse("-1.5,0,0,2", "40").training_energies;
  EXPECT_EQ(sketch.rows, 40);
  EXPECT_THAT(sketch.quantiles, ElementsAre(-1.5, 0, 0, 2));
  const std::pair<const char*, const char*> bad[] = {{"1", "40"},    {"2,1", "40"},   {"1,nan", "40"},
                                                     {"1,,2", "40"}, {"1,inf", "40"}, {"", "40"}};
  for (const auto& [quantiles, rows] : bad)
    ExpectError(
        ErrorCode::kBadModel, [&, q = quantiles, r = rows] { parse(q, r); }, "ort_ed.energy_quantiles");
  for (const char* rows : {"0", "-3", "many"})
    ExpectError(
        ErrorCode::kBadModel, [&] { parse("1,2", rows); }, "ort_ed.energy_rows");
  ExpectError(
      ErrorCode::kBadModel,
      [] {
        ParseMetadata({{"ort_ed.energy_quantiles", "1,2"}});
      },
      "ort_ed.energy_rows");
}

TEST(EnergySketch, PlacesEnergiesBetweenItsQuantiles) {
  const EnergySketch sketch{.rows = 100, .quantiles = {0, 1, 1, 4, 8}};  // at 0, 7/16, 12/16, 15/16, 1
  EXPECT_EQ(sketch.FractionBelow(-1), 0);
  EXPECT_EQ(sketch.FractionBelow(0), 0);
  EXPECT_DOUBLE_EQ(sketch.FractionBelow(0.5), 3.5 / 16);
  EXPECT_DOUBLE_EQ(sketch.FractionBelow(1), 7.0 / 16);  // rows of the same energy are not less odd
  EXPECT_DOUBLE_EQ(sketch.FractionBelow(4), 15.0 / 16);
  EXPECT_DOUBLE_EQ(sketch.FractionBelow(6), 15.5 / 16);
  EXPECT_EQ(sketch.FractionBelow(8), 1);
  EXPECT_EQ(sketch.FractionBelow(INFINITY), 1);
  EXPECT_TRUE(std::isnan(sketch.FractionBelow(NAN)));
}

TEST(Metadata, ANewerFormatIsRefused) {
  ExpectError(
      ErrorCode::kBadModel,
      [] {
        ParseMetadata({{"ort_ed.format_version", "2"}});
      },
      "newer");
}

}  // namespace
}  // namespace ort_ed
