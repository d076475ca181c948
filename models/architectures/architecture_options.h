#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/architectures/architectures.h"

namespace ort_ed {

// The options of one architecture: what the user gave, completed by the defaults. Every member throws
// kInvalidArgument that names architecture and option and says what is wanted.
class ArchitectureOptions {
 public:
  ArchitectureOptions(const Architecture& architecture, const std::map<std::string, std::string>& given);

  std::string Choice(const std::string& name, std::span<const std::string_view> candidates) const;
  int64_t Integer(const std::string& name, int64_t minimum) const;
  std::vector<int64_t> Integers(const std::string& name, int64_t minimum) const;  // "256,256"
  double Number(const std::string& name) const;
  bool Is(const std::string& name, std::string_view value) const { return Text(name) == value; }

  // All of them as a JSON object of strings, for the metadata.
  std::string ToJson() const;

 private:
  const std::string& Text(const std::string& name) const;
  [[noreturn]] void Reject(const std::string& name, const std::string& wanted) const;

  const char* architecture_;
  std::map<std::string, std::string> values_;
};

}  // namespace ort_ed
