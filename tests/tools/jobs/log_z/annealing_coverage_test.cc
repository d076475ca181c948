// Errors of annealed estimates: how often the truth lies within two of them, and that the two directions do
// not err together.

#include <cmath>

#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"
#include "tools/jobs/log_z/annealing_run.h"

namespace ort_ed {
namespace {

struct Model {
  const char* name;
  std::shared_ptr<const EnergyFunction> energy;
};

// On which chains mix.
std::vector<Model> Models() {
  return {{"lattice", LatticeEnergy(3, 3, 0.2, 0.1)},
          {"dense spins", DenseEnergy(8, 0.2, 5)},
          {"frustrated triangle", FrustratedTriangle()}};
}

struct Setting {
  int64_t temperatures, chains;
};

struct Errors {
  double forward, reverse;              // estimate - truth
  double forward_error, reverse_error;  // as told
};

Errors Estimate(const EnergyPath& path, double truth, const Setting& setting, uint64_t seed) {
  AnnealingPlan plan{.estimator = "ais", .model_digest = "", .path = path, .options = {}};
  plan.options.temperatures = setting.temperatures;
  plan.options.chains = setting.chains;
  plan.options.seed = seed;
  plan.options.threads = 1;
  Observer nobody;
  AnnealingRun run(plan, "", nobody);
  const LogZEstimate forward = run.Forward("ais").Estimate();
  const LogZEstimate reverse = run.EstimateInReverse("reverse ais");
  return {forward.log_z - truth, reverse.log_z - truth, forward.standard_error, reverse.standard_error};
}

struct Coverage {
  double forward = 0, reverse = 0;  // shares of seeds whose truth lies within two errors
};

constexpr int kSeeds = 600;  // of each model

Coverage Measure(const Setting& setting) {
  Coverage coverage;
  const double share = 1.0 / (kSeeds * static_cast<double>(Models().size()));
  for (const Model& model : Models()) {
    const EnergyPath path(model.energy);
    const double truth = ExactLogZ(*model.energy).log_z;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Errors errors = Estimate(path, truth, setting, seed);
      if (std::abs(errors.forward) < 2 * errors.forward_error) coverage.forward += share;
      if (std::abs(errors.reverse) < 2 * errors.reverse_error) coverage.reverse += share;
    }
  }
  return coverage;
}

// The shares of 1800 seeds that two errors cover, which have a standard deviation of 0.005 to 0.009.
void ExpectCoverage(const Setting& setting, double least) {
  const Coverage coverage = Measure(setting);
  for (const double share : {coverage.forward, coverage.reverse}) {
    EXPECT_GT(share, least) << setting.temperatures << " temperatures, " << setting.chains << " chains";
    EXPECT_LT(share, 0.97) << setting.temperatures << " temperatures, " << setting.chains << " chains";
  }
}

TEST(AnnealedEstimates, CoverTheTruthAsOftenAsTheirErrorsSay) {
  for (const Setting& setting : {Setting{12, 60}, Setting{12, 200}}) ExpectCoverage(setting, 0.93);
}

// What docs/figures.md says of few chains and of weights that differ much.
TEST(AnnealedEstimates, CoverItLessOftenWithFewChainsOrTemperatures) {
  ExpectCoverage({12, 10}, 0.87);
  ExpectCoverage({12, 20}, 0.89);
  ExpectCoverage({6, 60}, 0.90);
  ExpectCoverage({3, 20}, 0.81);
}

TEST(AnnealedEstimates, ErrIndependentlyForwardsAndInReverse) {
  for (const Model& model : Models()) {
    const EnergyPath path(model.energy);
    const double truth = ExactLogZ(*model.energy).log_z;
    double product = 0, forward_square = 0, reverse_square = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Errors errors = Estimate(path, truth, {12, 60}, seed);
      product += errors.forward * errors.reverse;
      forward_square += errors.forward * errors.forward;
      reverse_square += errors.reverse * errors.reverse;
    }
    // Of independent errors the correlation has a standard deviation of 0.04.
    EXPECT_LT(std::abs(product / std::sqrt(forward_square * reverse_square)), 0.2) << model.name;
  }
}

}  // namespace
}  // namespace ort_ed
