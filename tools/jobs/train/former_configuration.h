#pragma once

#include <string>

namespace ort_ed {

// The hash that checkpoints of format 1 hold of their run's configuration, from the config.toml of such a run
// as it was written; empty where the file is of a later version.
std::string HashFormerConfiguration(const std::string& config_toml);

}  // namespace ort_ed
