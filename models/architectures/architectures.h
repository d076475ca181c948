#pragma once

#include <span>
#include <string_view>

namespace ort_ed {

struct Value;
struct EnergyContext;

struct OptionDescription {
  const char* name;
  const char* default_value;
  const char* help;
};

// An architecture: what it is called, what can be chosen, and its energy as a graph. Adding one: write
// models/<name>.cc with a `const Architecture k<Name>Architecture` and add its row in registry.cc.
struct Architecture {
  const char* name;
  const char* summary;
  std::span<const OptionDescription> options;
  Value (*energy)(const EnergyContext& context);  // of shape [batch]; see models/energy_context.h
};

std::span<const Architecture* const> Architectures();

// Throws kInvalidArgument that lists the candidates.
const Architecture& FindArchitecture(std::string_view name);

}  // namespace ort_ed
