#include "tools/jobs/sample/sample_comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/mmd.h"
#include "tools/jobs/sample/chains.h"
#include "trainer/collective/shared_sampler.h"

namespace ort_ed {
namespace {

using Rows = std::vector<uint8_t>;

Rows States(const Chains& chains) { return {chains.states.begin(), chains.states.end()}; }

// Chains that are annealed from the base distribution to the model in the first half of their steps, so that
// they find its modes in proportion, and stay there; a set after that and after every `thin` steps more.
class SampleSets {
 public:
  SampleSets(const EnergyPath& path, const ComparisonOptions& options, const Choice& sampler, uint64_t seed,
             int threads, Observer& observer)
      : options_(options),
        chains_(StartChains(path, options.samples, seed)),
        sampler_(ShareChains(MakeSampler(sampler, path, threads), path, observer.processes())),
        watch_(Watch(observer, "sampling", "steps")),
        pace_(observer.processes()) {}

  // `use` takes the number of each set and the chains that hold it.
  template <typename Use>
  void Draw(const Use& use) {
    const int64_t steps = options_.steps;
    int64_t step = 0;
    for (; 2 * (step + 1) < steps; ++step)
      Advance(2.0 * static_cast<double>(step + 1) / static_cast<double>(steps), 1);
    Advance(1.0, steps - step);
    for (int64_t set = 0; set < options_.sample_sets; ++set) {
      if (set > 0) Advance(1.0, options_.thin);
      use(set, chains_);
    }
  }

 private:
  void Advance(double beta, int64_t steps) {
    std::ranges::fill(chains_.betas, beta);
    AdvanceChains(*sampler_, chains_, steps, pace_, [this](int64_t now) {
      watch_(done_ += now, options_.steps + (options_.sample_sets - 1) * options_.thin);
      return true;
    });
  }

  const ComparisonOptions& options_;
  Chains chains_;
  std::unique_ptr<Sampler> sampler_;
  WorkCallback watch_;
  Pace pace_;
  int64_t done_ = 0;
};

Choice ChooseSampler(const EnergyPath& path, const ComparisonOptions& options) {
  const bool asked = !options.asked_sampler.empty() || !options.sampler.options.empty();
  return asked || path.base->autoregressive() == nullptr ? options.sampler : "refill";
}

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

}  // namespace

void ComparisonOptions::Describe(Declare<ComparisonOptions>& declare) {
  using Self = ComparisonOptions;
  declare("samples", &Self::samples, "[0, inf)",
          "samples of the model, to be compared with the data by their MMD; 0: none");
  declare("sample_sets", &Self::sample_sets, "[1, inf)", "sets of that many; their MMDs are averaged")
      .When("samples", "[1, inf)");
  declare("steps", &Self::steps, "[1, inf)",
          "sampler steps of each sample; the first half anneals from the base")
      .When("samples", "[1, inf)");
  declare("thin", &Self::thin, "[1, inf)", "further steps between two sets")
      .When("samples", "[1, inf)")
      .When("sample_sets", "[2, inf)");
  declare("mmd_null", &Self::mmd_null, "[0, inf)",
          "shuffles of samples and data that tell how the MMD scatters without a difference, e.g. 100")
      .When("samples", "[1, inf)");
  declare("sampler", &Self::sampler, AnnealingSamplerTable, "how chains move")
      .Default("gibbs; of samples refill, where the base is learned")
      .When("samples", "[1, inf)");
  declare("sampler", &Self::asked_sampler, "", "how chains move").When("samples", "[1, inf)");
  DescribeBase(declare, &Self::base).When("samples", "[1, inf)");
}

void CheckComparison(const ComparisonOptions& options, const RowTable& data) {
  CheckOptions(options);
  if (options.samples == 0) return;
  if (options.samples < 2) throw OptionError("samples", "must be 2 or more, or 0 to compare none, not 1");
  if (data.rows < 2)
    throw OptionError("samples", fmt::format("must be 0 where the data has fewer than 2 rows, not {}: there "
                                             "is nothing to compare them with",
                                             options.samples));
}

std::optional<SampleComparison> CompareSamples(const EnergyPath& path, const RowTable& data,
                                               const ComparisonOptions& options, uint64_t seed, int threads,
                                               Observer& observer) {
  if (options.samples == 0) return std::nullopt;
  SampleComparison comparison;
  comparison.samples = options.samples;
  comparison.sets = options.sample_sets;
  const Choice sampler = ChooseSampler(path, options);
  comparison.sampler = sampler.kind;
  std::vector<double> null(static_cast<size_t>(options.mmd_null));
  const Variables variables = path.variables();
  const auto part = 1.0 / static_cast<double>(comparison.sets);
  SampleSets(path, options, sampler, seed, threads, observer).Draw([&](int64_t set, const Chains& chains) {
    if (set == 0) comparison.energies = chains.energies;
    const Rows samples = States(chains);
    const std::span rows = DataOfSet(data, set, comparison);
    const auto mmd = [&](MmdKernel kernel) {
      return SquaredMmd(samples, rows, variables, kernel, kMmdBandwidth, threads);
    };
    comparison.hamming += part * mmd(MmdKernel::kHamming);
    comparison.linear += part * mmd(MmdKernel::kLinear);
    const auto shuffled =
        SquaredMmdOfShuffled(samples, rows, variables, options.mmd_null, static_cast<uint64_t>(set),
                             MmdKernel::kHamming, kMmdBandwidth, threads);
    for (size_t i = 0; i < null.size(); ++i) null[i] += part * shuffled[i];
  });
  if (!null.empty()) comparison.null = Middle(std::move(null));
  return comparison;
}

}  // namespace ort_ed
