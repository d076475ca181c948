#include "tools/cli/commands/estimate_text.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace ort_ed {

std::string WithError(double value, double error) {
  if (!std::isfinite(error)) return fmt::format("{:.4f}, error not known", value);
  return fmt::format("{:.4f} +- {:.4f}", value, error);
}

std::string ToText(const LogZEstimate& estimate) {
  if (estimate.standard_error == 0) return fmt::format("{:.6f}  ({})", estimate.log_z, estimate.method);
  return fmt::format("{}  ({}; {:.1f} effective)", WithError(estimate.log_z, estimate.standard_error),
                     estimate.method, estimate.effective_samples);
}

nlohmann::ordered_json ToJson(const LogZEstimate& estimate) {
  nlohmann::ordered_json json = {{"method", estimate.method},
                                 {"log_z", estimate.log_z},
                                 {"standard_error", estimate.standard_error},
                                 {"samples", estimate.samples},
                                 {"effective_samples", estimate.effective_samples}};
  if (!estimate.warning.empty()) json["warning"] = estimate.warning;
  return json;
}

}  // namespace ort_ed
