#include "tools/jobs/score/marginal_energy.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/random.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {
namespace {

// Of a row. Conditional distributions are far narrower than the model itself, and rows may be many.
constexpr int64_t kChains = 10, kTemperatures = 50;

std::vector<int64_t> MissingVariables(std::span<const uint8_t> row, const Variables& variables) {
  std::vector<int64_t> missing;
  for (int64_t v = 0; v < variables.size(); ++v)
    if (row[static_cast<size_t>(variables.first_bit(v))] == kMissingValue) missing.push_back(v);
  return missing;
}

Variables Pick(const Variables& variables, const std::vector<int64_t>& chosen) {
  if (!variables.described()) return Variables::Binary(std::ssize(chosen));
  std::vector<Variable> list;
  for (const int64_t v : chosen) list.push_back(variables[v]);
  return Variables(std::move(list));
}

// The energy as a function of what is missing in a row.
class OpenEnergy final : public EnergyFunction {
 public:
  OpenEnergy(std::shared_ptr<const EnergyFunction> energy, std::span<const uint8_t> row,
             const Variables& variables, const std::vector<int64_t>& missing)
      : energy_(std::move(energy)), row_(row.begin(), row.end()), open_(Pick(variables, missing)) {
    for (const int64_t v : missing)
      for (int64_t bit = 0; bit < variables.bits(v); ++bit) bits_.push_back(variables.first_bit(v) + bit);
  }

  int64_t dimension() const override { return std::ssize(bits_); }
  Variables variables() const override { return open_; }
  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    energy_->Energy(Whole(rows, energies.size()), energies);
  }
  bool HasGradient() const override { return energy_->HasGradient(); }
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    const std::vector<float> whole = Whole(rows, energies.size());
    std::vector<float> of_whole(whole.size());
    energy_->EnergyAndGradient(whole, energies, of_whole);
    for (size_t i = 0; i < energies.size(); ++i)
      for (size_t k = 0; k < bits_.size(); ++k)
        gradients[i * bits_.size() + k] = of_whole[i * row_.size() + static_cast<size_t>(bits_[k])];
  }

 private:
  std::vector<float> Whole(std::span<const float> rows, size_t count) const {
    std::vector<float> whole;
    whole.reserve(count * row_.size());
    for (size_t i = 0; i < count; ++i) {
      whole.insert(whole.end(), row_.begin(), row_.end());
      for (size_t k = 0; k < bits_.size(); ++k)
        whole[i * row_.size() + static_cast<size_t>(bits_[k])] = rows[i * bits_.size() + k];
    }
    return whole;
  }

  std::shared_ptr<const EnergyFunction> energy_;
  std::vector<float> row_;
  Variables open_;
  std::vector<int64_t> bits_;
};

}  // namespace

MarginalEnergy::MarginalEnergy(const EnergyModel& model, uint64_t seed, int threads)
    : model_(model),
      energy_(MakeEnergyFunction(model, {.evaluation_budget = 0, .threads = threads})),
      variables_(model.variables()),
      seed_(seed),
      threads_(threads) {}

void MarginalEnergy::Energy(std::span<const uint8_t> rows, std::span<float> energies, std::span<float> errors,
                            const std::function<void(int64_t done)>& look) {
  const auto dimension = static_cast<size_t>(variables_.dimension());
  std::vector<uint8_t> filled(rows.begin(), rows.end());
  std::map<size_t, std::vector<int64_t>> holes;  // what is missing, by row
  for (size_t i = 0; i < energies.size(); ++i) {
    auto missing = MissingVariables(rows.subspan(i * dimension, dimension), variables_);
    for (const int64_t v : missing) variables_.SetState(filled.data() + i * dimension, v, 0);
    if (!missing.empty()) holes.emplace(i, std::move(missing));
  }
  model_.Energy(filled, energies);
  std::ranges::fill(errors, 0.0f);
  for (const auto& [i, missing] : holes) {
    look(static_cast<int64_t>(i));
    const MarginalSum sum = Sum(rows.subspan(i * dimension, dimension), missing);
    energies[i] = static_cast<float>(-sum.log_sum);
    errors[i] = static_cast<float>(sum.standard_error);
  }
}

MarginalSum MarginalEnergy::Sum(std::span<const uint8_t> row, const std::vector<int64_t>& missing) {
  const auto open = std::make_shared<OpenEnergy>(energy_, row, variables_, missing);
  ++found_.rows;
  const std::optional<int64_t> states = CountStates(open->variables());
  if (states && *states <= kMostSummedStates) return {.log_sum = ExactLogZ(*open).log_z};
  AnnealingOptions options;
  options.temperatures = kTemperatures;
  options.chains = kChains;
  options.seed = RandomStream(seed_, static_cast<uint64_t>(found_.rows), 0, 0).Next64();
  options.threads = threads_;
  Annealing annealing = Annealing::Forward(EnergyPath(open), options);
  annealing.Run();
  const LogZEstimate estimate = annealing.Estimate();
  ++found_.estimated;
  found_.largest_error = std::max(found_.largest_error, estimate.standard_error);
  return {estimate.log_z, estimate.standard_error};
}

}  // namespace ort_ed
