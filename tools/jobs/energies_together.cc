#include "tools/jobs/energies_together.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/collective/shares.h"

namespace ort_ed {

void EnergiesTogether(const EnergyModel& model, std::span<const uint8_t> rows, std::span<float> energies,
                      Collective& processes) {
  if (processes.size() == 1) return model.Energy(rows, energies);
  const int64_t width = model.dimension(), unit = std::max<int64_t>(1, model.RowsAtOnce());
  const auto share_of = [&](int rank) { return ShareOf(rank, processes.size(), std::ssize(energies), unit); };
  const Share own = share_of(processes.rank());
  const std::span<float> scored = energies.subspan(own.first, own.count);
  if (own.count > 0) model.Energy(rows.subspan(own.first * width, own.count * width), scored);
  const std::vector<std::string> all =
      processes.Gather({reinterpret_cast<const char*>(scored.data()), scored.size_bytes()});
  for (int rank = 0; rank < processes.size(); ++rank) {
    const Share share = share_of(rank);
    if (share.count > 0) std::memcpy(energies.data() + share.first, all[rank].data(), all[rank].size());
  }
}

}  // namespace ort_ed
