#include "tools/jobs/explain/energy_sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/onnx_models.h"
#include "tests/tools/jobs/counting_observer.h"

namespace ort_ed {
namespace {

std::vector<float> CurvedEnergies(int count) {
  std::vector<float> energies;
  for (int i = 0; i < count; ++i) {
    const double u = (i + 0.5) / count;
    energies.push_back(static_cast<float>(-std::log(1 - u)));  // exponential: a long tail to the odd side
  }
  std::ranges::reverse(energies);
  return energies;
}

TEST(EnergySketch, FractionsAreThoseOfTheRows) {
  const std::vector<float> energies = CurvedEnergies(10000);
  const EnergySketch sketch = *SketchEnergies(energies);
  EXPECT_EQ(sketch.rows, 10000);
  // Between quantiles fractions are interpolated; the steps between levels shrink towards 1.
  for (const double u : {0.01, 0.1, 0.3, 0.5, 0.9})
    EXPECT_NEAR(sketch.FractionBelow(-std::log(1 - u)), u, 0.001) << u;
  for (const double u : {0.99, 0.995, 0.999})
    EXPECT_NEAR(sketch.FractionBelow(-std::log(1 - u)), u, 0.0003) << u;
}

TEST(EnergySketch, AFewRowsAreCountedExactly) {
  const EnergySketch sketch = *SketchEnergies({3, 1, 1, 2});
  EXPECT_EQ(sketch.FractionBelow(0.5), 0);
  EXPECT_EQ(sketch.FractionBelow(1), 0);
  EXPECT_NEAR(sketch.FractionBelow(2), 0.5, 0.01);
  EXPECT_NEAR(sketch.FractionBelow(3), 0.75, 0.01);
  EXPECT_EQ(sketch.FractionBelow(3.5), 1);
}

TEST(EnergySketch, OnlyFiniteEnergiesCount) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(SketchEnergies({1, kInfinity, 2, NAN})->rows, 2);
  EXPECT_FALSE(SketchEnergies({kInfinity}));
}

TEST(EnergySketch, TravelsInTheMetadata) {
  const EnergySketch sketch = *SketchEnergies(CurvedEnergies(1000));
  const EnergySketch read = *ParseMetadata(ToMetadata(sketch)).training_energies;
  EXPECT_EQ(read.rows, sketch.rows);
  ASSERT_EQ(read.quantiles.size(), sketch.quantiles.size());
  for (size_t i = 0; i < read.quantiles.size(); ++i)
    EXPECT_NEAR(read.quantiles[i], sketch.quantiles[i], 1e-6 * sketch.quantiles[i]);
}

TEST(EnergySketch, IsLeftOutWhereSomebodyIsInAHurry) {
  const std::string bytes = LinearModel(3);
  const EnergyModel model = EnergyModel::FromMemory(Bytes(bytes));
  const RowTable rows{2, 3, {1, 0, 0, 0, 1, 1}};
  CountingObserver patient, hurried(0);
  EXPECT_EQ(SketchRows(model, rows, patient)->quantiles.back(), 5);
  EXPECT_FALSE(SketchRows(model, rows, hurried));
}

}  // namespace
}  // namespace ort_ed
