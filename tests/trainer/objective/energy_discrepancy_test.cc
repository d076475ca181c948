// The theorems of the paper, on spaces small enough to be enumerated, through the code that trains.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/support/chi_square.h"
#include "tests/trainer/negatives/perturbation_law.h"
#include "tests/trainer/small_models.h"
#include "trainer/learner/learner.h"

namespace ort_ed {
namespace {

using Vector = std::vector<double>;
constexpr uint64_t kSeed = 11;
constexpr uint32_t kTestPurpose = 0x7465;

// A distribution on 2^D states with probabilities within a factor of about 20 of one another.
Vector RandomDistribution(int dimension, uint64_t seed) {
  RandomStream random(seed, kTestPurpose, 0, 0);
  Vector p(size_t{1} << dimension);
  for (double& x : p) x = std::exp(3 * random.UniformDouble());
  const double sum = std::reduce(p.begin(), p.end());
  for (double& x : p) x /= sum;
  return p;
}

Vector RandomEnergy(int dimension, uint64_t seed) {
  Vector u = RandomDistribution(dimension, seed);
  for (double& x : u) x = -std::log(x);
  return u;
}

State Draw(const Vector& p, RandomStream& random) {
  double rest = random.UniformDouble();
  State x = 0;
  while (x + 1 < p.size() && (rest -= p[x]) >= 0) ++x;
  return x;
}

// Positives drawn from p, with negatives by the code under test.
ContrastiveBatch DrawBatch(const PerturbationLaw& law, const Vector& p, int64_t positives, int64_t negatives,
                           int64_t step) {
  const auto source = law.Make();
  ContrastiveBatch batch = EmptyBatch(*source, positives, negatives, law.dimension);
  for (int64_t i = 0; i < positives; ++i) {
    RandomStream random(kSeed, kTestPurpose, static_cast<uint64_t>(step), static_cast<uint64_t>(i));
    std::ranges::copy(RowOf(Draw(p, random), law.dimension), batch.Positive(i).begin());
  }
  source->Fill({.seed = kSeed, .step = step}, batch);
  return batch;
}

LearnerOptions OptionsWith(double w) {
  LearnerOptions options;
  options.objective = {"energy-discrepancy", {{"w", w}}};
  options.optimizer.clip = 0;
  options.optimizer.ema = 0;
  options.threads = 1;
  return options;
}

BatchShape ShapeOf(const ContrastiveBatch& batch) { return {batch.negatives, !batch.log_weights.empty()}; }

// Plain gradient descent, so that one step with a rate of 1 shows the gradient.
Learner PlainLearner(const onnx::ModelProto& model, const ContrastiveBatch& batch, double w) {
  LearnerOptions options = OptionsWith(w);
  options.optimizer.optimizer = OptimizerKind::kSgd;
  options.optimizer.momentum = 0;
  options.micro_batch = 500;
  return Learner(Prepare(model), options, ShapeOf(batch));
}

class EnergyDiscrepancyTest : public testing::TestWithParam<PerturbationLaw> {};

// Theorem 2. For given x and y let m and v be mean and variance of omega exp(U(x) - U(x')); then a group's
// loss has, to leading order in 1/M, the mean log m + w omega_x / (M m) - v / (2 M m^2) and the variance
// Var(log m) + E[v / (M m^2)] over x and y. The test allows twice that bias and 6 standard errors.
TEST_P(EnergyDiscrepancyTest, EstimatorConverges) {
  const PerturbationLaw& law = GetParam();
  const bool exact = law.all_exact;
  const double w = exact ? 0 : 1;
  const Vector p = RandomDistribution(law.dimension, 1), u = RandomEnergy(law.dimension, 2);
  double limit = 0, squares = 0, bias_terms = 0, noise = 0, volumes = 0;
  for (State x = 0; x < law.States(); ++x) {
    for (const auto& [y, q] : law.forward[x]) {
      double m = 0, second = 0, own_omega = 0;
      for (const auto& r : law.recovery.at(y)) {
        const double term = r.omega * std::exp(u[x] - u[r.state]);
        m += r.probability * term;
        second += r.probability * term * term;
        if (r.state == x) own_omega = r.omega;
      }
      const double v = exact ? 0 : second - m * m, weight = p[x] * q;
      limit += weight * std::log(m);
      squares += weight * std::log(m) * std::log(m);
      bias_terms += weight * (w * own_omega / m + v / (2 * m * m));
      noise += weight * v / (m * m);
      volumes += weight * std::log(law.volume.at(y));
    }
  }
  EXPECT_NEAR(limit, ExactEnergyDiscrepancy(law, p, u) - volumes, 1e-12);

  double bound = 0;
  for (const auto& [positives, negatives] :
       std::vector<std::pair<int64_t, int64_t>>{{200, 8}, {2000, 48}, {10000, 200}}) {
    const ContrastiveBatch batch = DrawBatch(law, p, positives, negatives, 1);
    Learner training = PlainLearner(TabularModel(law.dimension, u), batch, w);
    const double loss = training.Evaluate(batch).loss;
    const double m = static_cast<double>(batch.negatives);
    const double variance = squares - limit * limit + noise / m;
    bound =
        2 * (exact ? 0 : bias_terms / m) + 6 * std::sqrt(variance / static_cast<double>(positives)) + 1e-5;
    EXPECT_NEAR(loss, limit, bound) << "N = " << positives << ", M = " << m;
  }
  EXPECT_LT(bound, 0.1) << "the last bound must be a tight one";
}

// The matrix sum_j s_j e_j e_j' - s s', averaged over groups: the Hessian of the loss in a tabular energy, in
// double precision.
std::vector<Vector> Hessian(ContrastiveBatch& batch, const Vector& theta, double w) {
  std::vector<Vector> hessian(theta.size(), Vector(theta.size()));
  const auto candidates = static_cast<size_t>(1 + batch.negatives);
  for (int64_t i = 0; i < batch.positives; ++i) {
    Vector by_state(theta.size());
    double sum = 0;
    for (size_t j = 0; j < candidates; ++j) {
      const auto row = std::span(batch.rows).subspan((i * candidates + j) * batch.dimension, batch.dimension);
      const double omega = batch.log_weights.empty() ? 1 : std::exp(batch.LogWeights(i)[j]);
      const double term = (j == 0 ? w : 1) * omega * std::exp(-theta[StateOf(row)]);
      by_state[StateOf(row)] += term;
      sum += term;
    }
    for (size_t a = 0; a < theta.size(); ++a) {
      if (by_state[a] == 0) continue;
      hessian[a][a] += by_state[a] / sum / static_cast<double>(batch.positives);
      for (size_t b = 0; b < theta.size(); ++b) {
        hessian[a][b] -= by_state[a] * by_state[b] / (sum * sum) / static_cast<double>(batch.positives);
      }
    }
  }
  return hessian;
}

// Gaussian elimination; the matrix is positive definite.
Vector Solve(std::vector<Vector> a, Vector b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

Vector GradientAt(Learner& training, const ContrastiveBatch& batch, const Vector& theta) {
  std::vector<StateTensor> state = training.ReadState();
  state[0].values.assign(theta.begin(), theta.end());
  training.WriteState(state);
  training.Step(batch, 1, 1);
  Vector gradient(theta.size());
  const std::vector<StateTensor> after = training.ReadState();
  for (size_t i = 0; i < theta.size(); ++i) gradient[i] = state[0].values[i] - after[0].values[i];
  return gradient;
}

// The distribution with the energy theta within each class of states that the law confuses, and with the mass
// that p gives to each class.
Vector WithMassOf(const Vector& p, const std::vector<int>& classes, const Vector& theta) {
  Vector sums(theta.size()), masses(theta.size()), result(theta.size());
  for (size_t x = 0; x < theta.size(); ++x) {
    sums[classes[x]] += std::exp(-theta[x]);
    masses[classes[x]] += p[x];
  }
  for (size_t x = 0; x < theta.size(); ++x)
    result[x] = masses[classes[x]] * std::exp(-theta[x]) / sums[classes[x]];
  return result;
}

// Theorem 1. The loss is a log-likelihood of the positive among its candidates (for w = 1 and sampled or w =
// 0 and enumerated negatives), so the minimiser theta over n groups is that of a correct model: n (theta -
// theta*)' H (theta - theta*) is chi-square with as many degrees as there are free directions. Minimised by
// Newton's method with the gradients of the code under test.
TEST_P(EnergyDiscrepancyTest, MinimiserIsTheDataDistribution) {
  const PerturbationLaw& law = GetParam();
  const double w = law.all_exact ? 0 : 1;
  constexpr int64_t kGroups = 20000;
  Vector p = RandomDistribution(law.dimension, 3), truth(p.size());
  for (size_t x = 0; x < p.size(); ++x) truth[x] = -std::log(p[x]);
  ContrastiveBatch batch = DrawBatch(law, p, kGroups, 3, 2);
  Vector theta(p.size());
  Learner training = PlainLearner(TabularModel(law.dimension, theta), batch, w);
  const std::vector<int> classes = ConfusedClasses(law);

  std::vector<Vector> hessian;
  double length = 0;
  for (int iteration = 0; iteration < 12; ++iteration) {
    hessian = Hessian(batch, theta, w);
    std::vector<Vector> fixed = hessian;  // directions that the loss does not see stay where they are
    for (size_t a = 0; a < p.size(); ++a) {
      for (size_t b = 0; b < p.size(); ++b) fixed[a][b] += classes[a] == classes[b];
    }
    const Vector step = Solve(fixed, GradientAt(training, batch, theta));
    length = 0;
    for (size_t x = 0; x < p.size(); ++x) {
      theta[x] -= std::clamp(step[x], -1.0, 1.0);
      length = std::max(length, std::abs(step[x]));
    }
    if (length < 1e-4) break;
  }
  ASSERT_LT(length, 1e-3) << "Newton's method did not converge";

  double quadratic = 0;
  for (size_t a = 0; a < p.size(); ++a) {
    for (size_t b = 0; b < p.size(); ++b) {
      quadratic += kGroups * (theta[a] - truth[a]) * hessian[a][b] * (theta[b] - truth[b]);
    }
  }
  const std::set<int> distinct(classes.begin(), classes.end());
  ChiSquare test;
  test.statistic = quadratic;
  test.degrees = static_cast<int>(p.size() - distinct.size());
  EXPECT_GT(test.degrees, 0);
  EXPECT_TRUE(test.Passes()) << quadratic << " with " << test.degrees << " degrees";
  const Vector learned = WithMassOf(p, classes, theta);
  for (size_t x = 0; x < p.size(); ++x) EXPECT_NEAR(learned[x], p[x], 0.02) << x;
}

INSTANTIATE_TEST_SUITE_P(All, EnergyDiscrepancyTest, testing::ValuesIn(SmallLaws()),
                         [](const auto& test) { return test.param.Name(); });

// The same by training: a quadratic energy learns every probability, also by grid, which confuses only states
// of equal parity (no quadratic energy on four bits is a function of parity).
TEST(EnergyDiscrepancy, TrainingFindsAllProbabilities) {
  const int dimension = 4;
  Vector energy(16);
  for (State x = 0; x < 16; ++x) {
    const auto bits = RowOf(x, dimension);
    energy[x] = -(1.2 * bits[0] * bits[1] - 1.5 * bits[1] * bits[2] + 0.8 * bits[0] * bits[3] +
                  0.4 * bits[0] - 0.6 * bits[2]);
  }
  const auto normalised = [](Vector u) {
    double z = 0;
    for (double& x : u) z += x = std::exp(-x);
    for (double& x : u) x /= z;
    return u;
  };
  const Vector p = normalised(energy);
  for (const PerturbationLaw& law :
       {BernoulliLaw(4, 0.2), GridLaw(4, true), NeighbourhoodLaw("up", true, false),
        GridAndBernoulliLaw(4, 0.2, true)}) {
    LearnerOptions options = OptionsWith(law.all_exact ? 0 : 1);
    options.optimizer.ema = 0.98;
    const onnx::ModelProto model = QuadraticModel(dimension);
    Learner training(Prepare(model), options, ShapeOf(DrawBatch(law, p, 1, 8, 0)));
    constexpr int kSteps = 600;
    for (int step = 1; step <= kSteps; ++step) {
      training.Step(DrawBatch(law, p, 256, 8, step), 0.05 * (1 - (step - 1.0) / kSteps), step);
    }
    onnx::ModelProto trained = model;
    training.Export(trained, true);
    const std::vector<float> coupling = ParameterValues(trained, "coupling"),
                             field = ParameterValues(trained, "field");
    Vector learned(16);
    for (State x = 0; x < 16; ++x) {
      const auto bits = RowOf(x, dimension);
      for (int i = 0; i < dimension; ++i) {
        learned[x] -= bits[i] * field[i];
        for (int j = 0; j < dimension; ++j) learned[x] -= bits[i] * bits[j] * coupling[i * dimension + j];
      }
    }
    // About n = 256 * 600 / 2 groups count (the rate falls to zero). With 10 parameters the total variation
    // of a maximum-likelihood fit is about sqrt(10 / n) = 0.011; the perturbed data tell less than the data,
    // but more than a tenth of it.
    const Vector q = normalised(learned);
    double distance = 0;
    for (State x = 0; x < 16; ++x) distance += std::abs(q[x] - p[x]) / 2;
    EXPECT_LT(distance, 0.036) << law.Name();
  }
}

// A kernel in detailed balance with exp(-U): Metropolis over single flips.
std::vector<Vector> MetropolisKernel(int dimension, const Vector& u) {
  std::vector<Vector> q(u.size(), Vector(u.size()));
  for (State x = 0; x < u.size(); ++x) {
    q[x][x] = 1;
    for (int i = 0; i < dimension; ++i) {
      const State y = x ^ State { 1 } << i;
      q[x][y] = std::min(1.0, std::exp(u[x] - u[y])) / (dimension + 1);
      q[x][x] -= q[x][y];
    }
  }
  return q;
}

// A group for each pair (x, y): the positive x with all states x' as negatives, of weight M q(y|x'). Groups
// count alike, so what is tested are sums over groups of one x or y.
struct KernelGroups {
  ContrastiveBatch batch;
  std::vector<std::pair<State, State>> pairs;
};

KernelGroups GroupsOf(int dimension, const std::vector<Vector>& q) {
  const auto states = static_cast<State>(q.size());
  KernelGroups groups{ContrastiveBatch(0, states, dimension, true), {}};
  for (State x = 0; x < states; ++x) {
    for (State y = 0; y < states; ++y) {
      if (q[x][y] > 0) groups.pairs.emplace_back(x, y);
    }
  }
  groups.batch = ContrastiveBatch(static_cast<int64_t>(groups.pairs.size()), states, dimension, true);
  for (size_t i = 0; i < groups.pairs.size(); ++i) {
    const auto [x, y] = groups.pairs[i];
    std::ranges::copy(RowOf(x, dimension), groups.batch.Positive(i).begin());
    for (State z = 0; z < states; ++z) {
      std::ranges::copy(RowOf(z, dimension), groups.batch.Negatives(i).subspan(z * dimension).begin());
      groups.batch.LogWeights(i)[1 + z] =
          q[z][y] > 0 ? static_cast<float>(std::log(states * q[z][y])) : -1e30f;
    }
  }
  return groups;
}

TEST(EnergyDiscrepancy, DetailedBalanceMakesTheContrastivePotentialTheEnergy) {
  const int dimension = 3;
  const Vector u = RandomEnergy(dimension, 5);
  const auto q = MetropolisKernel(dimension, u);
  KernelGroups groups = GroupsOf(dimension, q);
  Learner training = PlainLearner(TabularModel(dimension, u), groups.batch, 0);
  // Each group's loss is U(x) - U_q(y) = U(x) - U(y).
  for (size_t i = 0; i < groups.pairs.size(); ++i) {
    const auto [x, y] = groups.pairs[i];
    ContrastiveBatch one(1, groups.batch.negatives, dimension, true);
    std::ranges::copy(groups.batch.Positive(i), one.Positive(0).begin());
    std::ranges::copy(groups.batch.Negatives(i), one.Negatives(0).begin());
    std::ranges::copy(groups.batch.LogWeights(i), one.LogWeights(0).begin());
    EXPECT_NEAR(training.Evaluate(one).loss, u[x] - u[y], 2e-5);
  }
}

// For a fixed q in detailed balance the gradient of U_q(y) is E[grad U(x')] with x' ~ q(.|y): contrastive
// divergence with a further step of the chain.
TEST(EnergyDiscrepancy, GradientUnderDetailedBalanceIsAChainStep) {
  const int dimension = 3;
  const Vector u = RandomEnergy(dimension, 6);
  const auto q = MetropolisKernel(dimension, u);
  KernelGroups groups = GroupsOf(dimension, q);
  Learner training = PlainLearner(TabularModel(dimension, u), groups.batch, 0);
  const Vector gradient = GradientAt(training, groups.batch, u);
  Vector expected(u.size());
  const double weight = 1.0 / static_cast<double>(groups.pairs.size());
  for (const auto& [x, y] : groups.pairs) {
    expected[x] += weight;
    for (State z = 0; z < u.size(); ++z) expected[z] -= weight * q[y][z];
  }
  for (State z = 0; z < u.size(); ++z) EXPECT_NEAR(gradient[z], expected[z], 1e-6);
}

// Section B.1: with U_q(y) = U(y) the loss of (x, y) is U(x) - U(y), one negative and w = 0, and its gradient
// the update of contrastive divergence.
TEST(EnergyDiscrepancy, OneNegativeWithoutStabilisationIsContrastiveDivergence) {
  const int dimension = 3;
  const Vector u = RandomEnergy(dimension, 7);
  const auto q = MetropolisKernel(dimension, u);
  ContrastiveBatch batch(500, 1, dimension, false);
  Vector expected(u.size());
  RandomStream random(kSeed, kTestPurpose, 9, 0);
  for (int64_t i = 0; i < batch.positives; ++i) {
    const State x = random.Below(8), y = Draw(q[x], random);
    std::ranges::copy(RowOf(x, dimension), batch.Positive(i).begin());
    std::ranges::copy(RowOf(y, dimension), batch.Negatives(i).begin());
    expected[x] += 1.0 / 500;
    expected[y] -= 1.0 / 500;
  }
  Learner training = PlainLearner(TabularModel(dimension, u), batch, 0);
  const Vector gradient = GradientAt(training, batch, u);
  for (State z = 0; z < u.size(); ++z) EXPECT_NEAR(gradient[z], expected[z], 1e-6);
}

}  // namespace
}  // namespace ort_ed
