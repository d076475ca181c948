// For one version more: SamplerOptions, the options of all samplers in one struct.

#include "sampler/kinds/former_options.h"

namespace ort_ed {
namespace {

OptionMap NameOptions(const SamplerOptions& former) {
  return {{"scan", former.scan == Scan::kRandom ? "random" : "systematic"},
          {"updates", former.updates_per_step},
          {"block", former.block},
          {"flips", former.flips},
          {"step_size", former.step_size},
          {"path_length", former.path_length},
          {"inner", former.inner},
          {"temperatures", former.temperatures},
          {"lowest_beta", former.lowest_beta}};
}

// What the sampler has, and the one inside it.
void AddOwnOptions(const std::string& sampler, const OptionMap& all, OptionMap& own) {
  for (const Option& option : FindSampler(sampler).schema().options) {
    const auto given = all.find(option.key);
    if (given == all.end() || !own.insert(*given).second) continue;
    if (option.kinds != nullptr) AddOwnOptions(FormatOption(given->second), all, own);
  }
}

}  // namespace

Choice TranslateOptions(const std::string& sampler, const SamplerOptions& former) {
  Choice choice(sampler);
  AddOwnOptions(sampler, NameOptions(former), choice.options);
  return choice;
}

std::unique_ptr<Sampler> MakeSampler(const std::string& name, const EnergyPath& target,
                                     const SamplerOptions& options) {
  return MakeSampler(TranslateOptions(name, options), target, options.threads);
}

}  // namespace ort_ed
