#include "ort_ed/error.h"
#include "runtime/support/named.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

// Moves through temperatures by itself, which annealing does, too.
constexpr std::string_view kTempering = "tempering";

}  // namespace

KindTable SamplerTable() { return ListKinds(Samplers()); }

KindTable AnnealingSamplerTable() {
  std::vector<const SamplerKind*> kinds(Samplers().begin(), Samplers().end());
  std::erase_if(kinds, [](const SamplerKind* kind) { return !kind->exact || kind->name == kTempering; });
  return ListKinds(kinds);
}

const SamplerKind& FindSampler(const std::string& name) { return *FindNamed(Samplers(), name, "sampler"); }

bool NeedsGradient(const Choice& sampler) {
  const SamplerKind& kind = FindSampler(sampler.kind);
  if (kind.needs_gradient) return true;
  const Schema& schema = kind.schema();
  for (const Option& option : schema.options) {
    if (option.kinds == nullptr) continue;  // else the option is the sampler inside
    const auto given = sampler.options.find(option.key);
    const OptionValue inner = given == sampler.options.end() ? option.Get(schema.defaults) : given->second;
    if (NeedsGradient(FormatOption(inner))) return true;
  }
  return false;
}

std::unique_ptr<Sampler> MakeSampler(const Choice& sampler, const EnergyPath& target, int threads) {
  const ChosenKind chosen = Resolve(sampler, SamplerTable(), "sampler").front();
  const SamplerKind& kind = *Samplers()[chosen.row];
  if (kind.needs_gradient && !target.energy->HasGradient()) {
    throw Error(ErrorCode::kInvalidArgument,
                "sampler '" + sampler.kind +
                    "' needs the gradient of the energy, and this model carries none; export the "
                    "model with its gradient, or use 'gibbs'");
  }
  if (kind.needs_autoregressive_base && target.base->autoregressive() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                "sampler '" + sampler.kind +
                    "' needs a learned base distribution, such as base made trains, where the path begins; "
                    "use 'gibbs'");
  }
  return kind.make(target, chosen.options, threads);
}

}  // namespace ort_ed
