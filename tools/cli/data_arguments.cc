#include <spdlog/fmt/fmt.h>

#include "runtime/support/named.h"
#include "tools/cli/command.h"

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
  const Binarise binarise = FindNamed(kBinariseNames, arguments.get("--binarise"), "--binarise").mode;
  if (arguments.is_used("--threshold") && binarise != Binarise::kThreshold)
    throw UsageError("--threshold needs --binarise threshold");
  return {.binarise = binarise,
          .threshold = arguments.get<float>("--threshold"),
          .seed = arguments.get<uint64_t>("--seed"),
          .columns = columns};
}

}  // namespace ort_ed
