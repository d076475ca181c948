#include "tools/cli/sampler_arguments.h"

#include <spdlog/fmt/fmt.h>

#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/foreign_options.h"
#include "tools/cli/option_values.h"

namespace ort_ed {
namespace {

struct ScanName {
  const char* name;
  Scan scan;
};

constexpr ScanName kScans[] = {{"systematic", Scan::kSystematic}, {"random", Scan::kRandom}};

// The options that mean something to a sampler.
struct OwnOptions {
  const char* name;
  std::vector<std::string> options;
};

const OwnOptions kOwnOptions[] = {
    {"gibbs", {"--scan", "--updates"}},
    {"block-gibbs", {"--scan", "--updates", "--block"}},
    {"gwg", {"--flips"}},
    {"dula", {"--step-size"}},
    {"dmala", {"--step-size"}},
    {"pas", {"--path-length"}},
};

const std::vector<std::string> kTemperingOptions = {"--inner", "--temperatures", "--lowest-beta"};

// What means nothing to the sampler that the option `chooser` names.
void RefuseOptionsOfOthers(const argparse::ArgumentParser& arguments, const char* chooser) {
  const std::string sampler = arguments.get(chooser);
  const OwnOptions& own = FindNamed(kOwnOptions, sampler, chooser);
  RefuseForeignOptions(arguments, SamplerOptionNames(), own.options, fmt::format("{} {}", chooser, sampler));
}

bool Suits(const SamplerKind& sampler, ChainUse use) {
  return use == ChainUse::kAny || (sampler.exact && std::string_view(sampler.name) != kTempering);
}

std::string SamplerHelp(ChainUse use) {
  std::string help = "how chains move:";
  for (const SamplerKind* entry : Samplers())
    if (Suits(*entry, use)) help += fmt::format("\n  {:<13}{}", entry->name, entry->summary);
  return help;
}

}  // namespace

void AddSamplerArguments(argparse::ArgumentParser& parser, ChainUse use) {
  const SamplerOptions defaults;
  parser.add_argument("--sampler").default_value(std::string("gibbs")).metavar("NAME").help(SamplerHelp(use));
  parser.add_argument("--scan")
      .default_value(std::string("systematic"))
      .metavar("ORDER")
      .help("gibbs, block-gibbs: systematic or random");
  parser.add_argument("--updates")
      .default_value(defaults.updates_per_step)
      .scan<'i', int64_t>()
      .metavar("N")
      .help("gibbs, block-gibbs: coordinates or blocks updated in one step; 0: all of them once");
  parser.add_argument("--block")
      .default_value(defaults.block)
      .scan<'i', int>()
      .metavar("K")
      .help("block-gibbs: coordinates updated together");
  parser.add_argument("--flips")
      .default_value(defaults.flips)
      .scan<'i', int>()
      .metavar("K")
      .help("gwg: coordinates proposed at once");
  parser.add_argument("--step-size")
      .default_value(defaults.step_size)
      .scan<'g', double>()
      .metavar("A")
      .help(use == ChainUse::kAnnealing ? "dmala: alpha" : "dula, dmala: alpha");
  parser.add_argument("--path-length")
      .default_value(defaults.path_length)
      .scan<'i', int>()
      .metavar("K")
      .help("pas: mean number of flips of a proposal");
}

std::vector<std::string> SamplerOptionNames() {
  return {"--scan", "--updates", "--block", "--flips", "--step-size", "--path-length"};
}

ChosenSampler ReadSamplerArguments(const argparse::ArgumentParser& arguments) {
  ChosenSampler chosen;
  chosen.name = FindSampler(arguments.get("--sampler")).name;
  chosen.options.scan = FindNamed(kScans, arguments.get("--scan"), "--scan").scan;
  chosen.options.updates_per_step = NumberFrom<int64_t>(arguments, "--updates", 0);
  chosen.options.block = NumberWhere<int>(
      arguments, "--block", [](int block) { return block >= 1 && block <= kMaxBlock; },
      fmt::format("from 1 to {}", kMaxBlock));
  chosen.options.flips = NumberFrom(arguments, "--flips", 1);
  chosen.options.step_size = PositiveNumber(arguments, "--step-size");
  chosen.options.path_length = NumberFrom(arguments, "--path-length", 1);
  chosen.options.threads = NumberFrom(arguments, "--threads", 0);
  if (chosen.name != kTempering) RefuseOptionsOfOthers(arguments, "--sampler");
  return chosen;
}

void AddTemperingArguments(argparse::ArgumentParser& parser) {
  const SamplerOptions defaults;
  parser.add_argument("--inner")
      .default_value(defaults.inner)
      .metavar("SAMPLER")
      .help("tempering: the sampler at each temperature");
  parser.add_argument("--temperatures")
      .default_value(defaults.temperatures)
      .scan<'i', int>()
      .metavar("K")
      .help("tempering: how many");
  parser.add_argument("--lowest-beta")
      .default_value(defaults.lowest_beta)
      .scan<'g', double>()
      .metavar("B")
      .help("tempering: inverse temperature of the hottest, relative to --beta");
}

void ReadTemperingArguments(const argparse::ArgumentParser& arguments, SamplerOptions& options) {
  options.inner = arguments.get("--inner");
  options.temperatures = NumberFrom(arguments, "--temperatures", 2);
  options.lowest_beta = NumberWhere<double>(
      arguments, "--lowest-beta", [](double beta) { return beta > 0 && beta < 1; }, "between 0 and 1");
  const std::string sampler = arguments.get("--sampler");
  if (sampler == kTempering) {
    RefuseOptionsOfOthers(arguments, "--inner");
  } else {
    RefuseForeignOptions(arguments, kTemperingOptions, {}, fmt::format("--sampler {}", sampler));
  }
}

}  // namespace ort_ed
