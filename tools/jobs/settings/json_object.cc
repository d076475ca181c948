#include "tools/jobs/settings/json_object.h"

namespace ort_ed {

std::optional<nlohmann::ordered_json> ParseJsonObject(std::string_view text) {
  using Json = nlohmann::ordered_json;
  bool deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth >= kDeepestJson;
    return !deep;
  };
  Json json = Json::parse(text, keep, /*allow_exceptions=*/false);
  if (deep || !json.is_object()) return std::nullopt;
  return json;
}

}  // namespace ort_ed
