#include "tools/jobs/sample_comparison.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "ort_ed/log_z.h"
#include "ort_ed/mmd.h"
#include "tools/cli/command.h"
#include "tools/cli/option_values.h"
#include "tools/cli/progress.h"
#include "tools/cli/sampler_arguments.h"

namespace ort_ed {
namespace {

using Rows = std::vector<uint8_t>;

Rows States(const Chains& chains) { return {chains.states.begin(), chains.states.end()}; }

// Chains that are annealed from the base distribution to the model in the first half of their steps, so that
// they find its modes in proportion, and stay there; a set after that and after every `--thin` steps more.
class SampleSets {
 public:
  SampleSets(const argparse::ArgumentParser& arguments, const EnergyPath& target)
      : sets_(arguments.get<int64_t>("--sample-sets")),
        steps_(arguments.get<int64_t>("--steps")),
        thin_(arguments.get<int64_t>("--thin")),
        chains_(StartChains(target, arguments.get<int64_t>("--samples"), arguments.get<uint64_t>("--seed"))) {
    const ChosenSampler chosen = ReadSamplerArguments(arguments);
    sampler_ = MakeSampler(chosen.name, target, chosen.options);
  }

  // `use` takes the rows of each set and the chains they come from.
  template <typename Use>
  void Draw(const Use& use) {
    for (int64_t step = 0; step < steps_; ++step) {
      const double beta = 2.0 * static_cast<double>(step + 1) / static_cast<double>(steps_);
      std::ranges::fill(chains_.betas, std::min(1.0, beta));
      Step();
    }
    for (int64_t set = 0; set < sets_; ++set) {
      for (int64_t step = 0; set > 0 && step < thin_; ++step) Step();
      use(set, chains_);
    }
  }

 private:
  void Step() {
    sampler_->Step(chains_, 1);
    show_(++done_, steps_ + (sets_ - 1) * thin_);
  }

  int64_t sets_, steps_, thin_;
  int64_t done_ = 0;
  Chains chains_;
  std::unique_ptr<Sampler> sampler_;
  WorkCallback show_ = ShowWork("sampling", "steps");
};

// Set k has its own rows of the data where there are enough of them.
std::span<const uint8_t> DataOfSet(const RowTable& data, int64_t set, const SampleComparison& comparison) {
  const std::span all(data.values);
  if (data.rows < comparison.samples * comparison.sets || comparison.sets == 1) return all;
  return all.subspan(set * comparison.samples * data.columns, comparison.samples * data.columns);
}

// The middle 95 % of values.
SampleComparison::Interval Middle(std::vector<double> values) {
  std::ranges::sort(values);
  const auto quantile = [&](double q) {
    return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {quantile(0.025), quantile(0.975)};
}

void AddNumber(argparse::ArgumentParser& parser, const char* name, int64_t value, const char* help) {
  parser.add_argument(name).default_value(value).scan<'i', int64_t>().metavar("N").help(help);
}

}  // namespace

void AddComparisonArguments(argparse::ArgumentParser& parser) {
  AddNumber(parser, "--samples", 1000, "samples of the model for the MMD and --png; 0: none");
  AddNumber(parser, "--sample-sets", 1, "sets of that many; their MMDs are averaged");
  AddNumber(parser, "--steps", 200, "sampler steps of each sample; the first half anneals from the base");
  AddNumber(parser, "--thin", 10, "further steps between two sets");
  AddNumber(parser, "--mmd-null", 0,
            "shuffles of samples and data that tell how the MMD scatters without a difference, e.g. 100");
}

void CheckComparison(const argparse::ArgumentParser& arguments, const RowTable& data) {
  const auto samples = arguments.get<int64_t>("--samples");
  if (samples == 0) return;
  for (const char* name : {"--samples", "--sample-sets", "--steps", "--thin"})
    NumberFrom<int64_t>(arguments, name, 1);
  NumberFrom<int64_t>(arguments, "--mmd-null", 0);
  if (samples < 2 || data.rows < 2)
    throw UsageError("samples are compared with data by two rows or more of each; --samples 0 does without");
}

std::optional<SampleComparison> CompareSamples(const argparse::ArgumentParser& arguments,
                                               const EnergyPath& target, const RowTable& data) {
  SampleComparison comparison;
  comparison.samples = arguments.get<int64_t>("--samples");
  comparison.sets = arguments.get<int64_t>("--sample-sets");
  if (comparison.samples == 0) return std::nullopt;
  const int threads = arguments.get<int>("--threads");
  std::vector<double> null(static_cast<size_t>(arguments.get<int64_t>("--mmd-null")));
  const auto part = 1.0 / static_cast<double>(comparison.sets);
  SampleSets(arguments, target).Draw([&](int64_t set, const Chains& chains) {
    if (set == 0) comparison.energies = chains.energies;
    const Rows samples = States(chains);
    const std::span rows = DataOfSet(data, set, comparison);
    const auto mmd = [&](MmdKernel kernel) {
      return SquaredMmd(samples, rows, data.columns, kernel, kMmdBandwidth, threads);
    };
    comparison.hamming += part * mmd(MmdKernel::kHamming);
    comparison.linear += part * mmd(MmdKernel::kLinear);
    const auto shuffled =
        SquaredMmdOfShuffled(samples, rows, data.columns, static_cast<int64_t>(null.size()),
                             static_cast<uint64_t>(set), MmdKernel::kHamming, kMmdBandwidth, threads);
    for (size_t i = 0; i < null.size(); ++i) null[i] += part * shuffled[i];
  });
  if (!null.empty()) comparison.null = Middle(std::move(null));
  return comparison;
}

nlohmann::ordered_json ToJson(const SampleComparison& comparison) {
  nlohmann::ordered_json json = {{"samples", comparison.samples},
                                 {"sets", comparison.sets},
                                 {"hamming", comparison.hamming},
                                 {"linear", comparison.linear}};
  if (comparison.null) json["hamming_null"] = {comparison.null->low, comparison.null->high};
  return json;
}

}  // namespace ort_ed
