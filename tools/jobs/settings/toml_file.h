#pragma once

#include <string>

#include <toml++/toml.h>

namespace ort_ed {

// The tables of a TOML file. Throws kIo "cannot read the <what> '<path>': ..." and kInvalidArgument
// "<path>:<line>: ..." for what is no TOML, larger than kMaxSettingsBytes or nested deeper than
// kMaxSettingsDepth.
toml::table ParseTomlFile(const std::string& path, const std::string& what);
toml::table ParseToml(const std::string& text, const std::string& path);

}  // namespace ort_ed
