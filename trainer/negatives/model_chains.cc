#include "trainer/negatives/model_chains.h"

#include "models/base/base_distribution.h"
#include "ort_ed/error.h"
#include "trainer/collective/shared_sampler.h"

namespace ort_ed {
namespace {

constexpr char kPrefix[] = "sampler_";
// A step of Gibbs sampling is a sweep over all variables, one of the others moves a few of them.
constexpr int64_t kSweeps = 1, kGradientSteps = 40;
constexpr double kEpsilon = 0.1;     // of validation
constexpr double kSmoothing = 0.01;  // so that no variable of a start is fixed

// Of a model that is not there yet.
class FlatEnergy final : public EnergyFunction {
 public:
  explicit FlatEnergy(const Variables& variables) : variables_(variables) {}
  int64_t dimension() const override { return variables_.dimension(); }
  Variables variables() const override { return variables_; }
  bool HasGradient() const override { return true; }
  void Energy(std::span<const float>, std::span<double>) const override {}
  void EnergyAndGradient(std::span<const float>, std::span<double>, std::span<float>) const override {}

 private:
  Variables variables_;
};

std::shared_ptr<const BaseDistribution> MakeBase(const RowContext& rows) {
  if (rows.base != nullptr) return rows.base;
  const Variables variables = VariablesOf(rows);
  if (rows.mean.empty()) return std::make_shared<ProductBase>(ProductBase::Uniform(variables));
  return std::make_shared<ProductBase>(SmoothedMean(rows.mean, kSmoothing, variables), variables);
}

Choice ValidationNoise(const std::optional<double>& epsilon, const Variables& variables) {
  if (variables.all_binary()) return {"bernoulli", {{"epsilon", *epsilon}}};
  if (epsilon)
    throw OptionError("validation_epsilon",
                      "has no effect where variables have more than two states: validation redraws some of "
                      "them, as method uniform does",
                      OptionError::Problem::kNoEffect);
  return MethodForCategories(variables);
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
      .Default("1, a sweep, or 40 where the sampler is guided by a gradient");
  declare("validation_epsilon", &ChainOptions::validation_epsilon, "(0, 1)",
          "validation: energy discrepancy with bits flipped with this probability")
      .Default("0.1 where all variables are binary");
}

ModelChains::ModelChains(const ChainOptions& options, const RowContext& rows)
    : options_(options),
      chain_steps_(options.chain_steps.value_or(GradientOf(options.sampler) ? kGradientSteps : kSweeps)),
      threads_(rows.threads),
      variables_(VariablesOf(rows)),
      base_(MakeBase(rows)) {
  if (variables_.all_binary() && !options_.validation_epsilon) options_.validation_epsilon = kEpsilon;
  validation_ = MakeNegatives(ValidationNoise(options_.validation_epsilon, variables_), rows);
  CheckSampler(options_.sampler, {std::make_shared<FlatEnergy>(variables_), base_});
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
  const std::shared_ptr<const EnergyFunction> network(std::shared_ptr<void>(), view.energy);
  const EnergyPath path(WithVariables(network, variables_), base_);
  Chains chains = StartChainsAt(path, std::move(states.chains), view.seed);
  chains.step = static_cast<uint64_t>(view.step * chain_steps_);
  chains.replicas = std::move(states.replicas);
  ShareChains(MakeSampler(options_.sampler, path, threads_), path,
              view.processes != nullptr ? *view.processes : Alone())
      ->Step(chains, chain_steps_);
  states = {std::move(chains.states), std::move(chains.replicas)};
}

}  // namespace ort_ed
