#include "trainer/negatives/model_chains.h"

#include "models/base/base_distribution.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr char kPrefix[] = "sampler_";
// A step of Gibbs sampling is a sweep over all variables, one of the others moves a few of them.
constexpr int64_t kSweeps = 1, kGradientSteps = 40;
constexpr double kSmoothing = 0.01;  // so that no variable of a start is fixed

// Of a model that is not there yet.
class FlatEnergy final : public EnergyFunction {
 public:
  explicit FlatEnergy(int64_t dimension) : dimension_(dimension) {}
  int64_t dimension() const override { return dimension_; }
  bool HasGradient() const override { return true; }
  void Energy(std::span<const float>, std::span<double>) const override {}
  void EnergyAndGradient(std::span<const float>, std::span<double>, std::span<float>) const override {}

 private:
  int64_t dimension_;
};

std::shared_ptr<const BaseDistribution> MakeBase(const RowContext& rows) {
  if (rows.base != nullptr) return rows.base;
  if (rows.mean.empty()) return std::make_shared<BernoulliBase>(BernoulliBase::Uniform(rows.dimension));
  return std::make_shared<BernoulliBase>(SmoothedMean(rows.mean, kSmoothing));
}

// What a sampler has to say against its options it says when it is made.
void CheckSampler(const Choice& sampler, const EnergyPath& path) {
  try {
    MakeSampler(sampler, path);
  } catch (const OptionError& error) {
    throw OptionError(kPrefix + error.key(), error.reason(), error.problem());
  }
}

}  // namespace

void ChainOptions::Describe(Declare<ChainOptions>& declare) {
  declare("sampler", &ChainOptions::sampler, SamplerTable, "what moves the chains").Prefix(kPrefix);
  declare("chain_steps", &ChainOptions::chain_steps, "[1, 1000000]", "steps of the sampler in each step")
      .Default("1, a sweep, or 40 where the sampler needs the gradient");
  declare("validation_epsilon", &ChainOptions::validation_epsilon, "(0, 1)",
          "validation: energy discrepancy with bits flipped with this probability");
}

ModelChains::ModelChains(const ChainOptions& options, const RowContext& rows)
    : options_(options),
      chain_steps_(options.chain_steps.value_or(NeedsGradient(options.sampler) ? kGradientSteps : kSweeps)),
      threads_(rows.threads),
      base_(MakeBase(rows)),
      validation_(MakeNegatives({"bernoulli", {{"epsilon", options.validation_epsilon}}}, rows)) {
  CheckSampler(options_.sampler, {std::make_shared<FlatEnergy>(rows.dimension), base_});
}

OptionMap ModelChains::Describe(double) const {
  OptionMap all = GetOptions(SchemaOf<ChainOptions>(), &options_);
  all["chain_steps"] = chain_steps_;
  return all;
}

void ModelChains::Advance(const StepView& view, States& states) const {
  if (view.energy == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "chains need the energy of the model as it is now");
  // Somebody else's, who keeps it for the whole step.
  const std::shared_ptr<const EnergyFunction> energy(std::shared_ptr<void>(), view.energy);
  const EnergyPath path(energy, base_);
  Chains chains = StartChainsAt(path, std::move(states.chains), view.seed);
  chains.step = static_cast<uint64_t>(view.step * chain_steps_);
  chains.replicas = std::move(states.replicas);
  MakeSampler(options_.sampler, path, threads_)->Step(chains, chain_steps_);
  states = {std::move(chains.states), std::move(chains.replicas)};
}

}  // namespace ort_ed
