// Quadratic energies: recognised from their values, and sampled many chains at once.

#include "sampler/kinds/heat_bath.h"
#include "sampler/quadratic/detect_quadratic.h"
#include "sampler/quadratic/sweep_kernels.h"
#include "sampler/quadratic/sweep_rows.h"
#include "tests/sampler/law_test.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

// An energy function of any dimension that rounds to float, as models do.
class FloatEnergy : public EnergyFunction {
 public:
  FloatEnergy(int64_t dimension, std::function<double(const float*)> function)
      : dimension_(dimension), function_(std::move(function)) {}
  int64_t dimension() const override { return dimension_; }
  bool HasGradient() const override { return false; }
  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    rows_evaluated += std::ssize(energies);
    for (size_t r = 0; r < energies.size(); ++r)
      energies[r] = static_cast<float>(function_(&rows[r * dimension_]));
  }
  void EnergyAndGradient(std::span<const float>, std::span<double>, std::span<float>) const override {
    FAIL();
  }

  mutable int64_t rows_evaluated = 0;

 private:
  int64_t dimension_;
  std::function<double(const float*)> function_;
};

std::vector<float> RandomRows(int64_t count, int64_t dimension, uint64_t seed) {
  std::vector<float> rows(count * dimension);
  RandomStream random(seed, 9, 0, 0);
  for (float& x : rows) x = static_cast<float>(random.Next32() & 1);
  return rows;
}

FloatEnergy Rounded(const QuadraticEnergy& energy) {
  return FloatEnergy(energy.dimension(), [&energy](const float* x) {
    double value;
    energy.Energy({x, static_cast<size_t>(energy.dimension())}, {&value, 1});
    return value;
  });
}

TEST(QuadraticEnergy, IsItsFormula) {
  const auto energy = DenseEnergy(11, 0.4, 3);
  const EnergyPath opaque(Opaque(energy));
  const std::vector<float> rows = AllStates(11);
  std::vector<double> values(2048), expected(2048);
  std::vector<float> gradients(rows.size()), expected_gradients(rows.size());
  energy->EnergyAndGradient(rows, values, gradients);
  opaque.energy->EnergyAndGradient(rows, expected, expected_gradients);
  for (size_t r = 0; r < values.size(); ++r) ASSERT_NEAR(values[r], expected[r], 1e-4);
  for (size_t k = 0; k < rows.size(); ++k) ASSERT_NEAR(gradients[k], expected_gradients[k], 1e-4);
  std::vector<double> alone(2048);
  energy->Energy(rows, alone);
  EXPECT_EQ(alone, values);
}

TEST(QuadraticEnergy, RejectsWhatIsNotOne) {
  const std::vector<double> fields = {1, 2}, asymmetric = {0, 1, 2, 0}, few = {0, 1},
                            infinite = {0, INFINITY, INFINITY, 0};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { QuadraticEnergy(0, fields, asymmetric); }, "row 1", "symmetric");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { QuadraticEnergy(0, fields, infinite); }, "finite");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { QuadraticEnergy(0, fields, few); }, "4 couplings");
}

TEST(DetectQuadratic, FindsLatticesWithTheirZeros) {
  const auto lattice = LatticeEnergy(10, 10, 0.4, 0.05);
  const FloatEnergy model = Rounded(*lattice);
  const auto found = DetectQuadratic(model, {});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->starts().back(), 400);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(found->fields()[i], lattice->fields()[i], 1e-3);
    ASSERT_EQ(found->neighbours(i).size(), 4u);
    for (int n = 0; n < 4; ++n) {
      EXPECT_EQ(found->neighbours(i)[n].site, lattice->neighbours(i)[n].site);
      EXPECT_NEAR(found->neighbours(i)[n].coupling, lattice->neighbours(i)[n].coupling, 1e-4);
    }
  }
}

TEST(DetectQuadratic, FindsDenseCouplings) {
  const auto dense = DenseEnergy(60, 0.05, 5);
  const FloatEnergy model = Rounded(*dense);
  const auto found = DetectQuadratic(model, {});
  ASSERT_NE(found, nullptr);
  const std::vector<float> rows = RandomRows(500, 60, 6);
  std::vector<double> expected(500), values(500);
  dense->Energy(rows, expected);
  found->Energy(rows, values);
  for (int r = 0; r < 500; ++r) EXPECT_NEAR(values[r], expected[r], 1e-3);
}

TEST(DetectQuadratic, FindsConstantsAndFields) {
  const FloatEnergy constant(5, [](const float*) { return 2.5; });
  EXPECT_NE(DetectQuadratic(constant, {}), nullptr);
  const FloatEnergy linear(2, [](const float* x) { return 3 * x[0] - x[1]; });
  const auto found = DetectQuadratic(linear, {});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->fields()[0], 3);
  EXPECT_EQ(found->fields()[1], -1);
}

// With gradients a few evaluations do; where the gradient is not that of a quadratic function, energies
// decide.
TEST(DetectQuadratic, UsesGradients) {
  const auto dense = DenseEnergy(10, 0.2, 5);
  const auto model = Opaque(dense);
  EnergyFunctionOptions options;
  options.evaluation_budget = 11;
  const auto found = DetectQuadratic(*model, options);
  ASSERT_NE(found, nullptr);
  EXPECT_LT(model->rows_evaluated, 32 + 2 * 384 + 11 + 2 * 256 + 1);
  const auto bent = std::make_shared<TestEnergy>(10, [&](const float* x, float* gradient) {
    std::fill_n(gradient, 10, 0.25f);
    double value;
    dense->Energy({x, 10}, {&value, 1});
    return value;
  });
  EXPECT_EQ(DetectQuadratic(*bent, options), nullptr);
  const auto by_energies = DetectQuadratic(*bent, {});
  ASSERT_NE(by_energies, nullptr);
  for (const auto& result : {found, by_energies}) {
    const std::vector<float> rows = AllStates(10);
    std::vector<double> expected(1024), values(1024);
    dense->Energy(rows, expected);
    result->Energy(rows, values);
    for (int r = 0; r < 1024; ++r) ASSERT_NEAR(values[r], expected[r], 1e-4);
  }
}

TEST(DetectQuadratic, KeepsItsBudget) {
  const auto lattice = LatticeEnergy(10, 10, 0.4, 0.05);
  const FloatEnergy model = Rounded(*lattice);
  EnergyFunctionOptions options;
  options.evaluation_budget = 5050;
  EXPECT_EQ(DetectQuadratic(model, options), nullptr);
  EXPECT_EQ(model.rows_evaluated, 0);
  options.evaluation_budget = 5051;
  EXPECT_NE(DetectQuadratic(model, options), nullptr);
}

TEST(DetectQuadratic, RejectsOtherEnergiesCheaply) {
  const auto rejects = [](const FloatEnergy& model) {
    return DetectQuadratic(model, {}) == nullptr && model.rows_evaluated < 200;
  };
  EXPECT_TRUE(rejects(FloatEnergy(30, [](const float* x) {
    double inputs = 0;
    for (int i = 0; i < 30; ++i) inputs += (i % 3 - 1) * 0.3 * x[i];
    return std::tanh(inputs);
  })));
  // One product of three variables among thirty.
  const auto dense = DenseEnergy(30, 0.05, 5);
  EXPECT_EQ(DetectQuadratic(FloatEnergy(30,
                                        [&](const float* x) {
                                          double value;
                                          dense->Energy({x, 30}, {&value, 1});
                                          return value + 0.1 * x[3] * x[14] * x[15];
                                        }),
                            {}),
            nullptr);
  // Piecewise linear, as a network of rectifiers.
  EXPECT_TRUE(rejects(FloatEnergy(30, [](const float* x) {
    double inputs = -6;
    for (int i = 0; i < 30; ++i) inputs += 0.5 * x[i];
    return std::max(0.0, inputs);
  })));
}

// The free energy of a restricted Boltzmann machine without biases.
FloatEnergy RestrictedBoltzmannMachine(int64_t dimension, int64_t hidden, double scale) {
  auto weights = std::make_shared<std::vector<double>>(dimension * hidden);
  RandomStream random(7, 9, 0, 0);
  for (double& weight : *weights) weight = scale * std::sqrt(12.0) * (random.UniformDouble() - 0.5);
  return FloatEnergy(dimension, [=](const float* x) {
    double energy = 0;
    for (int64_t h = 0; h < hidden; ++h)
      energy -=
          std::log1p(std::exp(std::inner_product(x, x + dimension, weights->begin() + h * dimension, 0.0)));
    return energy;
  });
}

// Weights so small that energies are quadratic, or even linear, almost within the rounding of float.
TEST(DetectQuadratic, RejectsAMachineWithSmallWeights) {
  for (const double scale : {1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 1.0}) {
    for (const int64_t dimension : {32, 100}) {
      const FloatEnergy model = RestrictedBoltzmannMachine(dimension, 64, scale);
      EXPECT_EQ(DetectQuadratic(model, {}), nullptr) << dimension << " " << scale;
      EXPECT_LE(model.rows_evaluated, 32 + 2 * 384) << dimension << " " << scale;
    }
  }
  const FloatEnergy large = RestrictedBoltzmannMachine(784, 300, 0.01);
  EXPECT_EQ(DetectQuadratic(large, {}), nullptr);
  EXPECT_LE(large.rows_evaluated, 32 + 2 * 384);
}

TEST(DetectQuadratic, AConstantHidesNoCubicTerms) {
  const auto dense = DenseEnergy(30, 0.05, 5);
  for (const double constant : {0.0, 1e3, 1e6}) {
    const FloatEnergy model(30, [&](const float* x) {
      double value;
      dense->Energy({x, 30}, {&value, 1});
      double sum = 0;
      for (int i = 0; i < 30; ++i) sum += 0.05 * (x[i] - 0.5);
      return constant + value + sum * sum * sum;
    });
    EXPECT_EQ(DetectQuadratic(model, {}), nullptr) << constant;
  }
}

// Flipping all bits changes nothing here: third differences over groups that make up the whole row vanish.
TEST(DetectQuadratic, RejectsProductsOfFourSpins) {
  const FloatEnergy model(30, [](const float* x) {
    double energy = 0;
    for (int i = 0; i + 3 < 30; ++i)
      energy += (2 * x[i] - 1) * (2 * x[i + 1] - 1) * (2 * x[i + 2] - 1) * (2 * x[i + 3] - 1);
    return energy;
  });
  EXPECT_EQ(DetectQuadratic(model, {}), nullptr);
  EXPECT_LE(model.rows_evaluated, 32);
}

TEST(DetectQuadratic, FindsALargeLatticeBehindAConstant) {
  const FloatEnergy model(784, [](const float* x) {
    double value = 500;
    for (int i = 0; i < 784; ++i) {
      const int right = i % 28 == 27 ? i - 27 : i + 1, down = (i + 28) % 784;
      value += 0.05 * x[i] - 0.2 * x[i] * (x[right] + x[down]);
    }
    return value;
  });
  int64_t last = 0, whole = 0;
  const auto found = DetectQuadratic(model, {.on_progress = [&](int64_t done, int64_t total) {
                                       EXPECT_GT(done, last);
                                       last = done;
                                       whole = total;
                                     }});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->starts().back(), 4 * 784);
  EXPECT_EQ(last, 784 * 785 / 2);
  EXPECT_EQ(whole, last);
}

TEST(DetectQuadratic, StopsWhereTheCallbackThrows) {
  const auto lattice = LatticeEnergy(10, 10, 0.4, 0.05);
  const FloatEnergy model = Rounded(*lattice);
  const auto stop = [](int64_t, int64_t) { throw Error(ErrorCode::kInterrupted, "stop"); };
  ExpectError(
      ErrorCode::kInterrupted, [&] { DetectQuadratic(model, {.on_progress = stop}); }, "stop");
}

TEST(HeatBath, TakesOneWithProbabilitySigmoid) {
  for (const double log_odds : {-30.0, -12.0, -3.0, -0.5, 0.0, 1e-3, 2.0, 20.0}) {
    // The words below a threshold give the unlikely value; count them by bisection.
    uint64_t low = 0, high = uint64_t{1} << 32;
    const bool unlikely = !(log_odds > 0);
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      HeatBath(log_odds, static_cast<uint32_t>(middle)) == unlikely ? low = middle + 1 : high = middle;
    }
    const double expected = 1 / (1 + std::exp(std::abs(log_odds)));
    EXPECT_NEAR(static_cast<double>(low) * 0x1.0p-32, expected, 0x1.0p-31) << log_odds;
  }
}

struct NamedKernel {
  const char* name;
  void (*kernel)(const Sweep&);
};

std::vector<NamedKernel> Kernels() {
  std::vector<NamedKernel> kernels = {{"portable", RunSweepPortable}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) kernels.push_back({"avx2", RunSweepAvx2});
#endif
  return kernels;
}

// Every kernel decides as HeatBath does with the words of RandomStream, up to the rounding of probabilities
// to float: with 2^-22 relative error a run of 320,000 updates agrees in all with probability above 0.9, so
// at most three chains are allowed to differ (P < 1e-5).
TEST(Sweep, DecideAsTheScalarCode) {
  constexpr int64_t kDimension = 25, kSteps = 400;
  const auto energy = DenseEnergy(kDimension, 0.2, 8);
  std::vector<float> means(kDimension);
  for (int64_t i = 0; i < kDimension; ++i) means[i] = 0.3f + 0.01f * static_cast<float>(i);
  const BernoulliBase base(means);
  const std::vector<float> base_fields(base.fields().begin(), base.fields().end());
  const std::vector<int32_t> sites = {3, 1, 4, 0, 5, 9, 2, 6, 8, 7, 12, 11, 10, 24, 23, 22, 21};
  const std::vector<float> start = RandomRows(kSweepRows, kDimension, 4);

  std::vector<float> expected = start;
  for (int row = 0; row < kSweepRows; ++row) {
    float* x = &expected[row * kDimension];
    const double beta = 0.5 + 0.03 * row;
    for (uint64_t step = 100; step < 100 + kSteps; ++step) {
      RandomStream random(77, 88, step, 1000 + row);
      for (int k = 0; k < 6; ++k) {
        const int32_t site = sites[(step * 6 + k) % sites.size()];
        double slope = energy->fields()[site];
        for (const auto& [j, coupling] : energy->neighbours(site)) slope += coupling * x[j];
        const double log_odds =
            -(static_cast<float>(beta) * slope + (1 - static_cast<float>(beta)) * base_fields[site]);
        x[site] = HeatBath(log_odds, random.Next32()) ? 1.0f : 0.0f;
      }
    }
  }

  std::vector<std::vector<float>> results;
  for (const NamedKernel& sweep : Kernels()) {
    SweepRows states(kDimension);
    states.Load(std::span<const float>(start), 0);
    SweepBits flips{};
    Sweep args{};
    args.energy = MakeSweepEnergy(*energy);
    args.base_fields = base_fields.data();
    args.sites = sites.data();
    args.site_count = std::ssize(sites);
    args.updates = 6;
    args.random_key = RandomStream::Key(77, 88);
    args.first_step = 100;
    args.first_row = 1000;
    args.steps = kSteps;
    for (int row = 0; row < kSweepRows; ++row) args.betas.row[row] = static_cast<float>(0.5 + 0.03 * row);
    args.states = states.data();
    args.flips = &flips;
    sweep.kernel(args);
    std::vector<float> result(start.size());
    states.Store(result, 0);
    int different = 0;
    for (int row = 0; row < kSweepRows; ++row)
      different += !std::equal(&result[row * kDimension], &result[row * kDimension] + kDimension,
                               &expected[row * kDimension]);
    EXPECT_LE(different, 3) << sweep.name;
    EXPECT_GT(flips.row[5], 100) << sweep.name;
    results.push_back(result);
  }
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

// The whole way: known to be quadratic or not, the same seed gives the same chains.
TEST(QuadraticGibbs, TakesTheSameDecisionsAsTheGeneralCode) {
  for (const char* scan : {"systematic", "random"}) {
    for (const bool reversed : {false, true}) {
      const auto lattice = LatticeEnergy(3, 4, 0.3, 0.1);
      const EnergyPath quadratic(lattice);
      const EnergyPath general(Opaque(lattice));
      Chains a = StartChains(quadratic, 50, 3);
      Chains b = StartChains(general, 50, 3);
      for (Chains* chains : {&a, &b}) {
        chains->clamped.assign(12, 0);
        chains->clamped[4] = 1;
      }
      const auto run = [&](const EnergyPath& target, Chains& chains) {
        const auto sampler = MakeSampler({"gibbs", {{"scan", scan}}}, target);
        reversed ? sampler->StepReversed(chains, 40) : sampler->Step(chains, 40);
      };
      run(quadratic, a);
      run(general, b);
      EXPECT_EQ(a.states, b.states);
      EXPECT_EQ(a.counters.bits_flipped, b.counters.bits_flipped);
      EXPECT_EQ(a.counters.proposals, b.counters.proposals);
      for (int c = 0; c < 50; ++c) EXPECT_NEAR(a.energies[c], b.energies[c], 1e-5);
    }
  }
}

// The 10 x 10 torus at the critical coupling is far beyond enumeration, but its mean energy is known:
// Kaufman's (1949) exact partition function. -d log Z / d K is the mean of sum of s s over the 200 edges.
double KaufmanLogZ(int n, double coupling) {
  const auto gamma = [&](int l) {
    if (l == 0) return 2 * coupling + std::log(std::tanh(coupling));
    const double c =
        std::cosh(2 * coupling) * std::cosh(2 * coupling) / std::sinh(2 * coupling) - std::cos(l * M_PI / n);
    return std::log(c + std::sqrt(c * c - 1));
  };
  double products[4] = {1, 1, 1, 1};
  for (int r = 0; r < n; ++r) {
    const double odd = n * gamma(2 * r + 1) / 2, even = n * gamma(2 * r) / 2;
    products[0] *= 2 * std::cosh(odd);
    products[1] *= 2 * std::sinh(odd);
    products[2] *= 2 * std::cosh(even);
    products[3] *= 2 * std::sinh(even);
  }
  return n * n / 2.0 * std::log(2 * std::sinh(2 * coupling)) - std::log(2.0) +
         std::log(products[0] + products[1] + products[2] + products[3]);
}

TEST(QuadraticGibbs, HasTheMeanEnergyOfTheTorus) {
  constexpr double kCoupling = 0.4, kStep = 1e-4;
  const double expected =
      -kCoupling * (KaufmanLogZ(10, kCoupling + kStep) - KaufmanLogZ(10, kCoupling - kStep)) / (2 * kStep);
  const EnergyPath target(LatticeEnergy(10, 10, kCoupling, 0));
  Chains chains = StartChains(target, 2000, 12);
  MakeSampler("gibbs", target)->Step(chains, 400);
  double sum = 0, squares = 0;
  for (const double energy : chains.energies) {
    sum += energy;
    squares += energy * energy;
  }
  const double mean = sum / 2000;
  const double error = std::sqrt((squares / 2000 - mean * mean) / 2000);
  EXPECT_NEAR(mean, expected, 6 * error);
  EXPECT_LT(error, 0.5);
}

}  // namespace
}  // namespace ort_ed
