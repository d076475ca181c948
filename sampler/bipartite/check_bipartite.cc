#include "sampler/bipartite/check_bipartite.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ort_ed/chains.h"
#include "ort_ed/random.h"
#include "sampler/bipartite/layer_gibbs.h"

namespace ort_ed {
namespace {

constexpr uint32_t kCheckPurpose = 0x42504348;  // "BPCH"
constexpr int64_t kRows = 128;
constexpr float kLargestWeight = 40;  // two factors exp(w) of a product are floats

struct Evaluation {
  double energy = 0;  // but for the constant
  double size = 0;    // of what it is a sum of
};

Evaluation Evaluate(const BipartiteForm& form, std::span<const float> row) {
  Evaluation result;
  for (int64_t i = 0; i < form.dimension(); ++i) {
    result.energy += form.fields[i] * row[i];
    result.size += std::abs(form.fields[i]) * row[i];
  }
  for (int64_t j = 0; j < form.units(); ++j) {
    double input = form.biases[j], size = std::abs(form.biases[j]);
    for (int64_t i = 0; i < form.dimension(); ++i) {
      const float weight = form.weights[i * form.units() + j];
      input += weight * row[i];
      size += std::abs(weight) * row[i];
    }
    result.energy -= std::max(input, 0.0) + std::log1p(std::exp(-std::abs(input)));
    result.size += size + 1;
  }
  return result;
}

// Rows whose share of ones is that of the row's number: all densities are among them.
std::vector<float> RandomRows(int64_t dimension) {
  std::vector<float> rows;
  for (int64_t row = 0; row < kRows; ++row) {
    RandomStream random(0, kCheckPurpose, 0, static_cast<uint64_t>(row));
    const double share = (static_cast<double>(row) + 0.5) / kRows;
    for (int64_t i = 0; i < dimension; ++i) rows.push_back(random.UniformDouble() < share ? 1.0f : 0.0f);
  }
  return rows;
}

// The form with an energy that nobody asks.
class FormAlone final : public EnergyFunction {
 public:
  explicit FormAlone(const BipartiteForm& form) : form_(form) {}
  int64_t dimension() const override { return form_.dimension(); }
  void Energy(std::span<const float>, std::span<double> energies) const override {
    std::ranges::fill(energies, 0.0);
  }
  bool HasGradient() const override { return false; }
  void EnergyAndGradient(std::span<const float>, std::span<double>, std::span<float>) const override {}
  const BipartiteForm* bipartite() const override { return &form_; }

 private:
  const BipartiteForm& form_;
};

std::vector<float> OwnRows(const BipartiteForm& form) {
  const EnergyPath path(std::make_shared<FormAlone>(form));
  Chains chains = StartChains(path, kRows, 0);
  LayerGibbs(path, {.updates = 1, .threads = 1}, chains, 20);
  return chains.states;
}

}  // namespace

bool BipartiteForm::IsUsable() const {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  return units() >= 1 && std::ssize(weights) == dimension() * units() &&
         std::ranges::all_of(fields, is_finite) && std::ranges::all_of(biases, is_finite) &&
         std::ranges::all_of(weights, [](float w) { return std::abs(w) <= kLargestWeight; });
}

bool IsBipartite(const EnergyFunction& energy, const BipartiteForm& form) {
  constexpr double kRounding = 4 * std::numeric_limits<float>::epsilon();
  if (form.dimension() != energy.dimension() || !form.IsUsable()) return false;
  std::vector<float> rows = RandomRows(form.dimension());
  const std::vector<float> own = OwnRows(form);
  rows.insert(rows.end(), own.begin(), own.end());
  std::vector<double> energies(2 * kRows), differences(energies.size());
  energy.Energy(rows, energies);
  double offset = 0, size = 0;
  for (size_t row = 0; row < energies.size(); ++row) {
    const Evaluation own_value =
        Evaluate(form, std::span<const float>(rows).subspan(row * form.dimension(), form.dimension()));
    differences[row] = energies[row] - own_value.energy;
    offset += differences[row] / static_cast<double>(energies.size());
    size = std::max(size, own_value.size + std::abs(energies[row]));
  }
  return std::ranges::all_of(differences,
                             [&](double d) { return std::abs(d - offset) <= kRounding * (1 + size); });
}

}  // namespace ort_ed
