#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// "unknown sampler 'x'; there are gibbs, ...". Throws kInvalidArgument.
[[noreturn]] void RefuseUnknownName(std::string_view what, std::string_view name,
                                    const std::vector<std::string>& known);

inline std::string_view GetName(std::string_view name) { return name; }
template <typename Entry>
requires requires(const Entry& entry) { entry.name; }
std::string_view GetName(const Entry& entry) { return entry.name; }
template <typename Entry>
requires requires(const Entry* entry) { entry->name; }
std::string_view GetName(const Entry* entry) { return entry->name; }

// The element of `table` with that name. Elements are names, or have a member `name`, or point to what has.
// Throws kInvalidArgument listing the candidates; `what` is what the names are names of.
template <typename Table>
const auto& FindNamed(const Table& table, std::string_view name, std::string_view what) {
  for (const auto& entry : table)
    if (GetName(entry) == name) return entry;
  std::vector<std::string> known;
  for (const auto& entry : table) known.emplace_back(GetName(entry));
  RefuseUnknownName(what, name, known);
}

}  // namespace ort_ed
