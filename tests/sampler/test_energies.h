#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "ort_ed/random.h"
#include "ort_ed/sampler.h"

namespace ort_ed {

// Energies of small models with their gradients, written out, and their laws by enumeration.

inline double Normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.UniformDouble()));
  return radius * std::cos(2 * M_PI * random.UniformDouble());
}

// State number s has x_i = bit i of s.
inline uint32_t StateNumber(std::span<const float> row) {
  uint32_t number = 0;
  for (size_t i = 0; i < row.size(); ++i) number |= static_cast<uint32_t>(row[i]) << i;
  return number;
}

inline std::vector<float> AllStates(int64_t dimension) {
  std::vector<float> rows((int64_t{1} << dimension) * dimension);
  for (size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<float>(k / dimension >> (k % dimension) & 1);
  return rows;
}

// A function of one row, which also writes its gradient, tabulated over all states. Counts what it is asked.
class TestEnergy : public EnergyFunction {
 public:
  using Function = std::function<double(const float* x, float* gradient)>;
  TestEnergy(int64_t dimension, const Function& function)
      : dimension_(dimension), energies_(size_t{1} << dimension), gradients_(energies_.size() * dimension) {
    const std::vector<float> rows = AllStates(dimension);
    for (size_t s = 0; s < energies_.size(); ++s)
      energies_[s] = function(&rows[s * dimension], &gradients_[s * dimension]);
  }

  int64_t dimension() const override { return dimension_; }
  bool HasGradient() const override { return true; }
  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    EnergyAndGradient(rows, energies, {});
  }
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    rows_evaluated += static_cast<int64_t>(energies.size());
    ++calls;
    for (size_t r = 0; r < energies.size(); ++r) {
      const uint32_t s = StateNumber(rows.subspan(r * dimension_, dimension_));
      energies[r] = energies_[s];
      if (!gradients.empty())
        std::copy_n(&gradients_[s * dimension_], dimension_, &gradients[r * dimension_]);
    }
  }

  mutable std::atomic<int64_t> rows_evaluated = 0;
  mutable std::atomic<int64_t> calls = 0;

 private:
  int64_t dimension_;
  std::vector<double> energies_;
  std::vector<float> gradients_;
};

// The same energy, evaluated a few rows at a time, as that of a model on the CPU.
class InGroups final : public EnergyFunction {
 public:
  InGroups(std::shared_ptr<const EnergyFunction> energy, int64_t rows)
      : energy_(std::move(energy)), rows_(rows) {}

  int64_t dimension() const override { return energy_->dimension(); }
  Variables variables() const override { return energy_->variables(); }
  bool HasGradient() const override { return energy_->HasGradient(); }
  int64_t rows_at_once() const override { return rows_; }
  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    energy_->Energy(rows, energies);
  }
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    energy_->EnergyAndGradient(rows, energies, gradients);
  }

 private:
  std::shared_ptr<const EnergyFunction> energy_;
  int64_t rows_;
};

// Spins s = 2x - 1 with U = -sum_{edges} j s s - sum_i h_i s_i, as a QuadraticEnergy.
struct Edge {
  int a, b;
  double coupling;
};

inline std::shared_ptr<const QuadraticEnergy> SpinEnergy(const std::vector<double>& fields,
                                                         const std::vector<Edge>& edges) {
  const size_t n = fields.size();
  double constant = std::accumulate(fields.begin(), fields.end(), 0.0);
  std::vector<double> linear(n), couplings(n * n);
  for (size_t i = 0; i < n; ++i) linear[i] = -2 * fields[i];
  for (const Edge& edge : edges) {
    constant -= edge.coupling;
    linear[edge.a] += 2 * edge.coupling;
    linear[edge.b] += 2 * edge.coupling;
    couplings[edge.a * n + edge.b] -= 4 * edge.coupling;
    couplings[edge.b * n + edge.a] -= 4 * edge.coupling;
  }
  return std::make_shared<QuadraticEnergy>(constant, linear, couplings);
}

// height x width spins on a torus (sides of at least 3).
inline std::shared_ptr<const QuadraticEnergy> LatticeEnergy(int height, int width, double coupling,
                                                            double field) {
  std::vector<Edge> edges;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      edges.push_back({y * width + x, y * width + (x + 1) % width, coupling});
      edges.push_back({y * width + x, (y + 1) % height * width + x, coupling});
    }
  }
  return SpinEnergy(std::vector<double>(height * width, field), edges);
}

inline std::shared_ptr<const QuadraticEnergy> FrustratedTriangle() {
  return SpinEnergy({0.2, 0, -0.1}, {{0, 1, -0.8}, {1, 2, -0.8}, {0, 2, -0.8}});
}

// Couplings between all pairs.
inline std::shared_ptr<const QuadraticEnergy> DenseEnergy(int64_t dimension, double scale, uint64_t seed) {
  RandomStream random(seed, 1, 0, 0);
  std::vector<double> fields(dimension);
  for (double& field : fields) field = 0.5 * Normal(random);
  std::vector<Edge> edges;
  for (int a = 0; a < dimension; ++a)
    for (int b = 0; b < a; ++b) edges.push_back({a, b, scale * Normal(random)});
  return SpinEnergy(fields, edges);
}

// The same energy with the knowledge that it is quadratic taken away.
inline std::shared_ptr<TestEnergy> Opaque(std::shared_ptr<const QuadraticEnergy> energy) {
  const int64_t dimension = energy->dimension();
  return std::make_shared<TestEnergy>(dimension, [energy, dimension](const float* x, float* gradient) {
    double value = energy->constant();
    for (int64_t i = 0; i < dimension; ++i) {
      double slope = energy->fields()[i];
      double inner = 0;
      for (const auto& [j, coupling] : energy->neighbours(i)) inner += coupling * x[j];
      slope += inner;
      value += x[i] * (energy->fields()[i] + 0.5 * inner);
      gradient[i] = static_cast<float>(slope);
    }
    return value;
  });
}

// Free energy of a restricted Boltzmann machine: -b.x - sum_k softplus(c_k + W_k.x).
inline std::shared_ptr<TestEnergy> RbmEnergy(int64_t dimension, int64_t hidden, uint64_t seed) {
  RandomStream random(seed, 2, 0, 0);
  std::vector<double> weights(hidden * dimension), visible(dimension), biases(hidden);
  for (double& w : weights) w = 1.2 * Normal(random);
  for (double& b : visible) b = 0.5 * Normal(random);
  for (double& c : biases) c = 0.5 * Normal(random);
  return std::make_shared<TestEnergy>(dimension, [=](const float* x, float* gradient) {
    double value = 0;
    for (int64_t i = 0; i < dimension; ++i) {
      value -= visible[i] * x[i];
      gradient[i] = static_cast<float>(-visible[i]);
    }
    for (int64_t k = 0; k < hidden; ++k) {
      const double* w = &weights[k * dimension];
      const double input = std::inner_product(w, w + dimension, x, biases[k]);
      value -= std::log1p(std::exp(input));
      for (int64_t i = 0; i < dimension; ++i)
        gradient[i] -= static_cast<float>(w[i] / (1 + std::exp(-input)));
    }
    return value;
  });
}

// v . tanh(W x + c).
inline std::shared_ptr<TestEnergy> MlpEnergy(int64_t dimension, int64_t hidden, uint64_t seed) {
  RandomStream random(seed, 3, 0, 0);
  std::vector<double> weights(hidden * dimension), biases(hidden), out(hidden);
  for (double& w : weights) w = Normal(random);
  for (double& c : biases) c = Normal(random);
  for (double& v : out) v = Normal(random);
  return std::make_shared<TestEnergy>(dimension, [=](const float* x, float* gradient) {
    double value = 0;
    std::fill_n(gradient, dimension, 0.0f);
    for (int64_t k = 0; k < hidden; ++k) {
      const double* w = &weights[k * dimension];
      const double activation = std::tanh(std::inner_product(w, w + dimension, x, biases[k]));
      value += out[k] * activation;
      const double slope = out[k] * (1 - activation * activation);
      for (int64_t i = 0; i < dimension; ++i) gradient[i] += static_cast<float>(slope * w[i]);
    }
    return value;
  });
}

// Two binary variables among others with 3, 4 and 2 states: 96 states in 11 bits.
inline Variables MixedVariables() {
  return Variables({
      {.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "green", "blue"}},
      {.name = "on"},
      {.name = "size", .kind = VariableKind::kOrdered, .labels = {"S", "M", "L"}, .missing = true},
      {.name = "late"},
      {.name = "side", .kind = VariableKind::kNominal, .labels = {"left", "right"}},
  });
}

// Probabilities of the states of MixedVariables().
inline std::vector<float> MixedMeans() {
  return {0.5f, 0.3f, 0.2f, 0.7f, 0.1f, 0.2f, 0.3f, 0.4f, 0.2f, 0.35f, 0.65f};
}

inline std::shared_ptr<const EnergyFunction> MixedMlpEnergy(uint64_t seed) {
  const Variables variables = MixedVariables();
  return WithVariables(MlpEnergy(variables.dimension(), 12, seed), variables);
}
inline std::shared_ptr<const EnergyFunction> MixedDenseEnergy(uint64_t seed) {
  const Variables variables = MixedVariables();
  return WithVariables(DenseEnergy(variables.dimension(), 0.15, seed), variables);
}

using Law = std::vector<double>;  // probability of each state number

// Bits that are no state have none.
inline Law ExactLaw(const EnergyPath& target, double beta = 1) {
  const Variables variables = target.variables();
  const std::vector<float> rows = AllStates(target.dimension());
  Law law(size_t{1} << target.dimension());
  target.energy->Energy(rows, law);
  std::vector<double> base_energies(law.size());
  target.base->Energy(rows, base_energies);
  double lowest = INFINITY;
  for (size_t s = 0; s < law.size(); ++s) {
    law[s] = beta * law[s] + (1 - beta) * base_energies[s];
    const std::span row(&rows[s * target.dimension()], static_cast<size_t>(target.dimension()));
    if (variables.FindBroken(row)) law[s] = INFINITY;
    lowest = std::min(lowest, law[s]);
  }
  double total = 0;
  for (double& p : law) total += p = std::exp(lowest - p);
  for (double& p : law) p /= total;
  return law;
}

// Independent draws from a law, as rows.
inline std::vector<float> DrawFrom(const Law& law, int64_t dimension, int64_t count, uint64_t seed) {
  std::vector<float> rows(count * dimension);
  for (int64_t r = 0; r < count; ++r) {
    double rest = RandomStream(seed, 4, 0, r).UniformDouble();
    size_t s = 0;
    while (s + 1 < law.size() && rest >= law[s]) rest -= law[s++];
    for (int64_t i = 0; i < dimension; ++i) rows[r * dimension + i] = static_cast<float>(s >> i & 1);
  }
  return rows;
}

}  // namespace ort_ed
