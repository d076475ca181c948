#include "tools/jobs/explain/conditionals.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/jobs/sample/chains.h"

namespace ort_ed {
namespace {

// What all neighbours of the rows would cost, which is what reading the couplings must not exceed.
int64_t Budget(int64_t rows, int64_t dimension) {
  const int64_t most = EnergyFunctionOptions().evaluation_budget;
  if (rows == 0 || rows > most / (dimension + 1)) return most;
  return rows * (dimension + 1);
}

// Neighbours that are held in memory at a time.
int64_t NeighbourRows(int64_t dimension) {
  constexpr int64_t kValues = int64_t{1} << 20;
  return std::max<int64_t>(1, kValues / dimension);
}

}  // namespace

double LogConditional(double change) {
  return change > 0 ? -std::log1p(std::exp(-change)) : change - std::log1p(std::exp(change));
}

std::vector<double> LogConditionals(const Variables& variables, int64_t variable, const float* row,
                                    const double* changes) {
  const int64_t first = variables.first_bit(variable);
  if (variables.bits(variable) == 1) {
    const double own = LogConditional(changes[first]), other = LogConditional(-changes[first]);
    return row[first] != 0 ? std::vector{other, own} : std::vector{own, other};
  }
  std::vector<double> values(changes + first, changes + first + variables.bits(variable));
  const double lowest = std::ranges::min(values);
  double sum = 0;
  for (double& value : values) sum += std::exp(value = lowest - value);
  for (double& value : values) value -= std::log(sum);
  return values;
}

Conditionals::Conditionals(const LoadedModel& model, int64_t rows, int threads, Observer& observer)
    : Conditionals(
          ModelEnergy(model, model.energy_model(), threads, observer).get(Budget(rows, model.dimension()))) {}

void Conditionals::Compute(std::span<const float> rows, std::span<const uint8_t> wanted,
                           std::span<double> energies, std::span<double> changes,
                           const std::function<void(int64_t rows)>& look) const {
  if (!quadratic()) {
    energy_->Energy(rows, energies);
    FromNeighbours(rows, wanted, energies, changes, look);
    return;
  }
  std::vector<float> gradients(rows.size());
  energy_->EnergyAndGradient(rows, energies, gradients);
  for (size_t i = 0; i < rows.size(); ++i)
    if (wanted.empty() || wanted[i] != 0) changes[i] = (1 - 2 * rows[i]) * gradients[i];
  look(std::ssize(energies));
}

void Conditionals::FromNeighbours(std::span<const float> rows, std::span<const uint8_t> wanted,
                                  std::span<const double> energies, std::span<double> changes,
                                  const std::function<void(int64_t rows)>& look) const {
  const auto dimension = static_cast<size_t>(energy_->dimension());
  const auto most = static_cast<size_t>(NeighbourRows(energy_->dimension()));
  std::vector<size_t> moves;  // positions in `rows` that change
  std::vector<float> neighbours;
  std::vector<double> neighbour_energies;
  const auto flush = [&](size_t row) {
    neighbour_energies.resize(moves.size());
    energy_->Energy(neighbours, neighbour_energies);
    for (size_t i = 0; i < moves.size(); ++i)
      changes[moves[i]] = neighbour_energies[i] - energies[moves[i] / dimension];
    moves.clear();
    neighbours.clear();
    look(static_cast<int64_t>(row));
  };
  for (size_t at = 0; at < rows.size(); ++at) {
    if (!wanted.empty() && wanted[at] == 0) continue;
    const auto bit = static_cast<int64_t>(at % dimension);
    if (rows[at] != 0 && variables_.bits(variables_.variable_of(bit)) > 1) {
      changes[at] = 0;
      continue;
    }
    const auto row = rows.subspan(at / dimension * dimension, dimension);
    neighbours.insert(neighbours.end(), row.begin(), row.end());
    variables_.Move(neighbours.data() + neighbours.size() - dimension, bit);
    moves.push_back(at);
    if (moves.size() == most) flush(at / dimension);
  }
  if (!moves.empty()) flush(energies.size());
}

}  // namespace ort_ed
