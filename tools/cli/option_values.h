#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <argparse/argparse.hpp>
#include <spdlog/fmt/fmt.h>

#include "ort_ed/error.h"
#include "tools/cli/command.h"

// Values of options with the range they must lie in; one outside is a UsageError that names the option.

namespace ort_ed {

// `wanted` says in words what `allowed` asks for: "must be <wanted>".
template <typename Number, typename Allowed>
Number NumberWhere(const argparse::ArgumentParser& arguments, const char* name, const Allowed& allowed,
                   std::string_view wanted) {
  const auto value = arguments.get<Number>(name);
  if (!allowed(value)) throw UsageError(fmt::format("{} must be {}, not {}", name, wanted, value));
  return value;
}

template <typename Number>
Number NumberFrom(const argparse::ArgumentParser& arguments, const char* name, Number least) {
  return NumberWhere<Number>(
      arguments, name, [&](Number value) { return value >= least; }, fmt::format("at least {}", least));
}

inline double PositiveNumber(const argparse::ArgumentParser& arguments, const char* name) {
  return NumberWhere<double>(
      arguments, name, [](double value) { return value > 0 && std::isfinite(value); }, "above 0 and finite");
}

// The result of `use`, which works on values of the command line only: what is invalid there is misuse.
template <typename Use>
auto BlameTheOptions(const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) throw UsageError(error.what());
    throw;
  }
}

// Of an option HxW: height and width.
std::vector<int64_t> ImageShapeOf(const argparse::ArgumentParser& arguments, const char* name);

}  // namespace ort_ed
