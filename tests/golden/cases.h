#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/golden/results.h"

namespace ort_ed {

struct GoldenCase {
  std::string name;
  std::vector<std::string> arguments;  // of ort-ed; "@file" is in the workshop
  GoldenResult (*result)(const Workshop&, const std::string& name, const std::string& printed);
  double tolerance;  // of a number x: this times max(1, |x|)
};

inline void PrintTo(const GoldenCase& golden, std::ostream* stream) {
  for (const std::string& argument : golden.arguments) *stream << argument << " ";
}

std::vector<GoldenCase> GoldenCases();

}  // namespace ort_ed
