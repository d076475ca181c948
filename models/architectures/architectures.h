#pragma once

#include <span>
#include <string_view>

#include "ort_ed/options.h"

namespace ort_ed {

struct Value;
struct EnergyContext;

// An architecture: what it is called, what can be chosen, and its energy as a graph. Adding one: write
// models/architectures/<name>.cc with a `const ArchitectureKind k<Name>Architecture` and add its row in
// architectures.cc.
struct ArchitectureKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  // Of shape [batch]; options of the schema, by name.
  Value (*energy)(const EnergyContext& context, const OptionMap& options);
};

std::span<const ArchitectureKind* const> Architectures();

// The same as what a Choice may hold.
KindTable ArchitectureTable();

// Throws kInvalidArgument that lists the candidates.
const ArchitectureKind& FindArchitecture(std::string_view name);

}  // namespace ort_ed
