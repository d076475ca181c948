#include "ort_ed/energy_function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ort_ed/error.h"
#include "sampler/bipartite/check_bipartite.h"
#include "sampler/quadratic/detect_quadratic.h"

namespace ort_ed {
namespace {

class ModelEnergy final : public EnergyFunction {
 public:
  explicit ModelEnergy(EnergyModel model) : model_(std::move(model)) {}

  void Show(std::shared_ptr<const BipartiteForm> form) { bipartite_ = std::move(form); }
  const BipartiteForm* bipartite() const override { return bipartite_.get(); }

  int64_t dimension() const override { return model_.dimension(); }
  Variables variables() const override { return model_.variables(); }
  bool HasGradient() const override { return model_.HasGradient(); }
  int64_t rows_at_once() const override { return model_.RowsAtOnce(); }

  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    std::vector<float> values(energies.size());
    model_.EnergyUnchecked(rows, values);
    Store(values, energies);
  }

  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    std::vector<float> values(energies.size());
    model_.EnergyAndGradient(rows, values, gradients);
    Store(values, energies);
    if (std::ranges::any_of(gradients, [](float slope) { return std::isnan(slope); })) {
      throw Error(
          ErrorCode::kBadModel,
          "the gradient of the model's energy at a sampled state is not a number (`ort-ed check` finds out "
          "why); a sampler without gradient, such as gibbs, needs only energies");
    }
  }

 private:
  static void Store(std::span<const float> values, std::span<double> energies) {
    for (size_t row = 0; row < values.size(); ++row) {
      if (std::isnan(values[row])) {
        throw Error(
            ErrorCode::kBadModel,
            "the model's energy of a sampled state is not a number; look for divergence in its training");
      }
      energies[row] = values[row];
    }
  }

  EnergyModel model_;
  std::shared_ptr<const BipartiteForm> bipartite_;
};

class EnergyOfVariables final : public EnergyFunction {
 public:
  EnergyOfVariables(std::shared_ptr<const EnergyFunction> energy, const Variables& variables)
      : energy_(std::move(energy)), variables_(variables) {}

  int64_t dimension() const override { return energy_->dimension(); }
  Variables variables() const override { return variables_; }
  bool HasGradient() const override { return energy_->HasGradient(); }
  const QuadraticEnergy* quadratic() const override { return energy_->quadratic(); }
  int64_t rows_at_once() const override { return energy_->rows_at_once(); }
  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    energy_->Energy(rows, energies);
  }
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    energy_->EnergyAndGradient(rows, energies, gradients);
  }

 private:
  std::shared_ptr<const EnergyFunction> energy_;
  Variables variables_;
};

}  // namespace

std::shared_ptr<const EnergyFunction> WithVariables(std::shared_ptr<const EnergyFunction> energy,
                                                    const Variables& variables) {
  if (variables.all_binary()) return energy;
  return std::make_shared<EnergyOfVariables>(std::move(energy), variables);
}

std::shared_ptr<const EnergyFunction> MakeEnergyFunction(const EnergyModel& model,
                                                         const EnergyFunctionOptions& options) {
  auto energy = std::make_shared<ModelEnergy>(model);
  if (options.bipartite && IsBipartite(*energy, *options.bipartite)) energy->Show(options.bipartite);
  const std::optional<int> degree = model.metadata().degree;
  if (!degree || *degree > 2) return energy;
  if (auto quadratic = DetectQuadratic(*energy, options)) return WithVariables(quadratic, model.variables());
  return energy;
}

}  // namespace ort_ed
