#include "tools/jobs/energies_together.h"

#include <algorithm>

#include "trainer/collective/shares.h"

namespace ort_ed {

void EnergiesTogether(const EnergyModel& model, std::span<const uint8_t> rows, std::span<float> energies,
                      Collective& processes) {
  if (processes.size() == 1) return model.Energy(rows, energies);
  const int64_t width = model.dimension(), unit = std::max<int64_t>(1, model.RowsAtOnce());
  const Share own = ShareOf(processes.rank(), processes.size(), std::ssize(energies), unit);
  if (own.count > 0)
    model.Energy(rows.subspan(own.first * width, own.count * width), energies.subspan(own.first, own.count));
  GatherShares(processes, energies, unit);
}

}  // namespace ort_ed
