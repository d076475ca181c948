#include "ort_ed/error.h"
#include "runtime/support/named.h"
#include "sampler/kinds/former_options.h"
#include "sampler/kinds/gradient_options.h"
#include "sampler/kinds/side_by_side.h"

namespace ort_ed {
namespace {

// Moves through temperatures by itself, which annealing does, too.
constexpr std::string_view kTempering = "tempering";

// For one version more: SamplerOptions, the options of all samplers in one struct, by name.
OptionMap NameOptions(const SamplerOptions& former) {
  OptionMap options = {{"scan", former.scan == Scan::kRandom ? "random" : "systematic"},
                       {"updates", former.updates_per_step},
                       {"flips", former.flips},
                       {"step_size", former.step_size},
                       {"path_length", former.path_length},
                       {"inner", former.inner},
                       {"temperatures", former.temperatures},
                       {"lowest_beta", former.lowest_beta}};
  // What nobody has set is for the sampler to choose.
  if (former.block != SamplerOptions().block) options["block"] = former.block;
  return options;
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

KindTable SamplerTable() { return ListKinds(Samplers()); }

KindTable AnnealingSamplerTable() {
  std::vector<const SamplerKind*> kinds(Samplers().begin(), Samplers().end());
  std::erase_if(kinds, [](const SamplerKind* kind) { return !kind->exact || kind->name == kTempering; });
  return ListKinds(kinds);
}

const SamplerKind& FindSampler(const std::string& name) { return *FindNamed(Samplers(), name, "sampler"); }

std::optional<GradientSource> GradientOf(const Choice& sampler) {
  const SamplerKind& kind = FindSampler(sampler.kind);
  if (kind.needs_gradient) {
    const auto given = sampler.options.find("gradient");
    return given == sampler.options.end() ? GradientOptions().gradient
                                          : MakeOptions<GradientOptions>({*given}).gradient;
  }
  const Schema& schema = kind.schema();
  for (const Option& option : schema.options) {
    if (option.kinds == nullptr) continue;  // else the option is the sampler inside
    const auto given = sampler.options.find(option.key);
    const OptionValue inner = given == sampler.options.end() ? option.Get(schema.defaults) : given->second;
    if (const auto source = GradientOf({FormatOption(inner), sampler.options})) return source;
  }
  return std::nullopt;
}

bool NeedsGradient(const Choice& sampler) {
  const std::optional<GradientSource> source = GradientOf(sampler);
  return source && *source != GradientSource::kDifferences;
}

std::unique_ptr<Sampler> MakeSampler(const Choice& sampler, const EnergyPath& target, int threads) {
  const ChosenKind chosen = Resolve(sampler, SamplerTable(), "sampler").front();
  const SamplerKind& kind = *Samplers()[chosen.row];
  if (kind.needs_gradient && NeedsGradient(sampler) && !target.energy->HasGradient()) {
    throw Error(ErrorCode::kInvalidArgument,
                "sampler '" + sampler.kind +
                    "' needs the gradient of the energy, and this model carries none; export the "
                    "model with its gradient, let the sampler compare energies (gradient differences), or "
                    "use 'gibbs'");
  }
  if (kind.needs_autoregressive_base && target.base->autoregressive() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                "sampler '" + sampler.kind +
                    "' needs a learned base distribution, such as base made trains, where the path begins; "
                    "use 'gibbs'");
  }
  const auto make = [&kind, target, options = chosen.options, threads] {
    return kind.make(target, options, threads);
  };
  const int64_t rows = target.energy->rows_at_once();
  // Forms that are known have loops of their own over chains; tempering is around a sampler that is made
  // here.
  const bool whole = rows == 0 || target.quadratic() != nullptr || target.bipartite() != nullptr;
  if (whole || kind.name == kTempering) return make();
  return std::make_unique<SideBySide>(make, rows, threads);
}

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
