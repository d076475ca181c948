#include "sampler/log_z/annealing_options.h"

#include "sampler/kinds/former_options.h"

namespace ort_ed {

void AnnealingOptions::Describe(Declare<AnnealingOptions>& declare) {
  using Self = AnnealingOptions;
  declare("sampler", &Self::sampler, AnnealingSamplerTable, "how chains move");
  declare("temperatures", &Self::temperatures, "[1, inf)",
          "distributions between the base and the model; one sampler step each");
  declare("spacing", &Self::spacing,
          {{"linear", Spacing::kLinear}, {"sigmoid", Spacing::kSigmoid}, {"adaptive", Spacing::kAdaptive}},
          "where the temperatures lie: linear, sigmoid or adaptive (by a pilot run)");
  declare("chains", &Self::chains, "[1, inf)", "chains");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

Spacing ParseSpacing(const std::string& name) {
  return MakeOptions<AnnealingOptions>({{"spacing", name}}).spacing;
}

std::unique_ptr<Sampler> MakeAnnealingSampler(const EnergyPath& target, const AnnealingOptions& options) {
  const SamplerOptions& former = options.sampler_options;
  const int threads = options.threads != 0 ? options.threads : former.threads;
  auto sampler = options.sampler.options.empty()
                     ? MakeSampler(TranslateOptions(options.sampler.kind, former), target, threads)
                     : MakeSampler(options.sampler, target, threads);
  return options.around ? options.around(std::move(sampler)) : std::move(sampler);
}

}  // namespace ort_ed
