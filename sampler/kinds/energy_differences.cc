#include "sampler/kinds/energy_differences.h"

#include <algorithm>
#include <utility>

namespace ort_ed {
namespace {

constexpr int64_t kValuesAtOnce = int64_t{1} << 20;  // 4 MiB of rows

class EnergyDifferences final : public EnergyFunction {
 public:
  explicit EnergyDifferences(std::shared_ptr<const EnergyFunction> energy)
      : energy_(std::move(energy)), variables_(energy_->variables()) {}

  int64_t dimension() const override { return energy_->dimension(); }
  Variables variables() const override { return variables_; }
  bool HasGradient() const override { return true; }
  const BipartiteForm* bipartite() const override { return energy_->bipartite(); }

  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    energy_->Energy(rows, energies);
  }

  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    energy_->Energy(rows, energies);
    const int64_t moves = std::ssize(rows);  // one for each bit of each row
    const int64_t at_once = std::max<int64_t>(1, kValuesAtOnce / dimension());
    for (int64_t first = 0; first < moves; first += at_once)
      FillSlopes(rows, energies, first, std::min(at_once, moves - first), gradients);
  }

 private:
  void FillSlopes(std::span<const float> rows, std::span<const double> energies, int64_t first, int64_t count,
                  std::span<float> slopes) const {
    std::vector<float> neighbours;
    neighbours.reserve(count * dimension());
    for (int64_t move = first; move < first + count; ++move) {
      const auto row = rows.begin() + move / dimension() * dimension();
      const auto neighbour = neighbours.insert(neighbours.end(), row, row + dimension());
      variables_.Move(&*neighbour, move % dimension());
    }
    std::vector<double> others(count);
    energy_->Energy(neighbours, others);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t move = first + k;
      slopes[move] = Slope(others[k], energies[move / dimension()], rows[move], move % dimension());
    }
  }

  float Slope(double there, double here, float value, int64_t bit) const {
    if (there == here) return 0;  // also where both are infinite
    const bool falls = value == 1 && variables_.bits(variables_.variable_of(bit)) == 1;
    return static_cast<float>(falls ? here - there : there - here);
  }

  std::shared_ptr<const EnergyFunction> energy_;
  Variables variables_;
};

}  // namespace

std::shared_ptr<const EnergyFunction> WithDifferences(std::shared_ptr<const EnergyFunction> energy) {
  if (energy->quadratic() != nullptr && energy->variables().all_binary()) return energy;
  return std::make_shared<EnergyDifferences>(std::move(energy));
}

}  // namespace ort_ed
