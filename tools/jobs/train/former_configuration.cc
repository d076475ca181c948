#include "tools/jobs/train/former_configuration.h"

#include <fmt/format.h>
#include <zlib.h>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

// "key = value" without the explanation behind it.
std::string WithoutExplanation(const std::string& line) {
  const std::string setting = line.substr(0, line.rfind(" # "));
  return setting.substr(0, setting.find_last_not_of(' ') + 1);
}

bool MayHaveChanged(const std::string& section, const std::string& line) {
  return section == "[run]" || line.starts_with("data = ") || line.starts_with("validation = ");
}

}  // namespace

std::string HashFormerConfiguration(const std::string& config_toml) {
  std::string section, text;
  for (const std::string& line : SplitWords(config_toml, '\n')) {
    if (line.starts_with("objective = ")) return "";
    if (line.starts_with('[')) {
      section = line;
    } else if (!MayHaveChanged(section, line)) {
      text += WithoutExplanation(line) + "\n";
    }
  }
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

}  // namespace ort_ed
