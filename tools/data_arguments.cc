#include <spdlog/fmt/fmt.h>

#include "tools/command.h"

namespace ort_ed {
namespace {

struct BinariseName {
  const char* name;
  Binarise mode;
};

constexpr BinariseName kBinariseNames[] = {
    {"strict", Binarise::kStrict},
    {"threshold", Binarise::kThreshold},
    {"stochastic", Binarise::kStochastic},
};

Binarise BinariseNamed(const std::string& name) {
  std::string known;
  for (const BinariseName& candidate : kBinariseNames) {
    if (name == candidate.name) return candidate.mode;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  throw UsageError(fmt::format("--binarise '{}' is unknown; the choices are {}", name, known));
}

}  // namespace

void AddDataArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("--binarise")
      .default_value(std::string("strict"))
      .metavar("HOW")
      .help("what to do with grey values: strict (refuse them), threshold, or stochastic (draw bits)");
  parser.add_argument("--threshold")
      .default_value(0.5f)
      .scan<'g', float>()
      .metavar("T")
      .help("with --binarise threshold: values at or above T (of 0 to 1) become 1");
  parser.add_argument("--seed")
      .default_value(uint64_t{0})
      .scan<'u', uint64_t>()
      .metavar("N")
      .help("of the bits that --binarise stochastic draws");
}

RowOptions ChosenRowOptions(const argparse::ArgumentParser& arguments, int64_t columns) {
  return {.binarise = BinariseNamed(arguments.get<std::string>("--binarise")),
          .threshold = arguments.get<float>("--threshold"),
          .seed = arguments.get<uint64_t>("--seed"),
          .columns = columns};
}

}  // namespace ort_ed
