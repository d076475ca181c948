#include "tools/jobs/quadratic_couplings.h"

#include <cmath>

#include <fmt/format.h>

#include "ort_ed/energy_function.h"
#include "ort_ed/error.h"
#include "runtime/data/row_writer.h"

namespace ort_ed {
namespace {

constexpr int64_t kMaxDimension = 2048;

}  // namespace

std::vector<double> QuadraticCouplings(const LoadedModel& model, Observer& observer) {
  const int64_t n = model.dimension();
  if (n > kMaxDimension)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' has {} variables; couplings of at most {} can be read", model.name(), n,
                            kMaxDimension));
  const auto energy =
      MakeEnergyFunction(model.energy_model(), {.evaluation_budget = kMaxDimension * kMaxDimension,
                                                .on_progress = Watch(observer, "reading couplings", "rows")});
  const QuadraticEnergy* quadratic = energy->quadratic();
  if (quadratic == nullptr)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not quadratic in its variables; only Ising-like models have couplings",
                            model.name()));
  // The energy holds -2 J_ij s_i s_j, both triangles taken together, and s_i s_j = 4 x_i x_j - ...
  std::vector<double> couplings(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (const auto& [j, coupling] : quadratic->neighbours(i)) couplings[i * n + j] = -coupling / 8;
  return couplings;
}

void WriteCouplings(const std::string& path, const std::vector<double>& couplings) {
  const auto spins = std::llround(std::sqrt(static_cast<double>(couplings.size())));
  const auto writer = CreateFloatFile(path, {.columns = spins});
  writer->Write(std::vector<float>(couplings.begin(), couplings.end()));
  writer->Commit();
}

}  // namespace ort_ed
