#include "tools/jobs/log_z/normalised_form.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "ort_ed/base_distribution.h"
#include "ort_ed/error.h"

namespace ort_ed {

void RequireNormalisedForm(const EnergyModel& model) {
  constexpr int64_t kRows = 4;
  const auto base = MakeBaseDistribution(model);
  const std::vector<float> rows = base->DrawRows(0, 0, kRows);
  std::vector<double> expected(kRows);
  std::vector<float> energies(kRows);
  base->Energy(rows, expected);
  model.EnergyUnchecked(rows, energies);
  for (int64_t row = 0; row < kRows; ++row) {
    if (std::abs(energies[row] - expected[row]) <= 1e-3 * (1 + std::abs(expected[row]))) continue;
    throw Error(
        ErrorCode::kBadModel,
        fmt::format("the model says that it is normalised, but its energy of a row is {} where its own "
                    "weights give {}",
                    energies[row], expected[row]));
  }
}

}  // namespace ort_ed
