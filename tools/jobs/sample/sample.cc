#include "tools/jobs/sample/sample.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/sample/proposal.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

// Runs the chains through the schedule and hands on what is asked for on the way.
class SampleRun {
 public:
  SampleRun(Sampler& sampler, Chains chains, const Variables& variables, const SampleSinks& sinks,
            Observer& observer, SampleResult& result)
      : sampler_(sampler),
        chains_(std::move(chains)),
        sinks_(sinks),
        observer_(observer),
        result_(result),
        schedule_(result.schedule),
        recorder_(variables) {}

  void Run() {
    const auto look = [this](int64_t steps) {
      step_ += steps;
      observer_.OnWork({"sampling", "steps", step_, schedule_.steps});
      return !observer_.StopRequested();
    };
    while (step_ < schedule_.steps && result_.complete) {
      const int64_t next = NextStop();
      const bool reached = AdvanceChains(sampler_, chains_, next - step_, pace_, look);
      if (reached) OnStop();
      result_.complete = reached && (step_ == schedule_.steps || !observer_.StopRequested());
    }
    result_.diagnostics = recorder_.Summarise(chains_.counters, measured_since_.Seconds());
  }

  const Chains& chains() const { return chains_; }

 private:
  int64_t RecordStride() const {
    return std::max<int64_t>(1, (schedule_.steps - schedule_.burn_in) / (2 * TraceRecorder::kMaxEnergies));
  }

  // The next step after which there is something to do.
  int64_t NextStop() const {
    if (sinks_.trace != nullptr) return step_ + 1;
    if (step_ < schedule_.burn_in) return schedule_.burn_in;
    const int64_t record = step_ + RecordStride() - (step_ - schedule_.burn_in) % RecordStride();
    const int64_t draw = step_ < schedule_.first()
                             ? schedule_.first()
                             : step_ + schedule_.thin - (step_ - schedule_.first()) % schedule_.thin;
    return std::min({schedule_.steps, record, draw});
  }

  void OnStop() {
    if (sinks_.trace != nullptr)
      sinks_.trace->Write(std::vector<float>(chains_.energies.begin(), chains_.energies.end()));
    if (step_ == schedule_.burn_in) StartMeasuring();
    if (step_ > schedule_.burn_in && (step_ - schedule_.burn_in) % RecordStride() == 0)
      recorder_.Record(chains_);
    if (schedule_.IsDraw(step_)) KeepSamples();
  }

  void StartMeasuring() {
    chains_.counters = {};
    measured_since_.Restart();
  }

  void KeepSamples() {
    const int64_t rows = std::min(chains_.count, schedule_.samples - result_.samples);
    const std::vector<uint8_t> values(chains_.states.begin(),
                                      chains_.states.begin() + rows * chains_.dimension);
    if (sinks_.samples != nullptr) {
      sinks_.samples->Write(values);
    } else {
      result_.rows.insert(result_.rows.end(), values.begin(), values.end());
    }
    const int64_t shown = std::clamp<int64_t>(SampleResult::kFirstSamples - result_.samples, 0, rows);
    result_.first_samples.insert(result_.first_samples.end(), values.begin(),
                                 values.begin() + shown * chains_.dimension);
    result_.samples += rows;
  }

  Sampler& sampler_;
  Chains chains_;
  SampleSinks sinks_;
  Observer& observer_;
  SampleResult& result_;
  const SampleSchedule& schedule_;
  TraceRecorder recorder_;
  Stopwatch measured_since_;
  Pace pace_;
  int64_t step_ = 0;
};

// Evaluations that a run would cost if the energy were not known to be quadratic.
int64_t ExpectedEvaluations(const SampleSchedule& schedule, const Choice& sampler, int64_t dimension) {
  const bool by_gradient = FindSampler(sampler.kind).needs_gradient;
  return schedule.chains * schedule.steps * (by_gradient ? 1 : dimension);
}

std::unique_ptr<Sampler> ChooseSampler(const SampleOptions& options, const EnergyPath& path) {
  if (options.policy.empty()) return MakeSampler(options.sampler, path, options.threads);
  if (options.sampler.kind != SampleOptions().sampler.kind || !options.sampler.options.empty())
    throw OptionError("sampler", "has no effect with `policy`", OptionError::Problem::kNoEffect);
  RequireBinary(path.variables(), "policy");
  const ProposalOptions proposal{options.policy_variables, options.policy_copies};
  return MakePolicySampler(OpenProposal(options.policy, path.dimension(), options.threads, proposal), path);
}

void WarnOfChains(const Chains& chains, SampleResult& result, Observer& observer) {
  const auto impossible = std::ranges::count_if(chains.energies, [](double u) { return std::isinf(u); });
  if (impossible > 0)
    Warn(fmt::format("chains in states of infinite energy, which have no probability: {} of {}", impossible,
                     chains.count),
         result, observer);
  constexpr double kMixed = 1.1;
  if (result.diagnostics.energy_r_hat > kMixed || result.diagnostics.coordinate_r_hat > kMixed)
    Warn(fmt::format("R-hat is above {}: the chains do not agree yet; run more steps or try the sampler "
                     "tempering",
                     kMixed),
         result, observer);
}

}  // namespace

void SampleOptions::Describe(Declare<SampleOptions>& declare) {
  using Self = SampleOptions;
  declare("samples", &Self::samples, "[1, 1e12]", "how many")
      .Letter('n')
      .Default("100, or the rows of init or clamp");
  declare("steps", &Self::steps, "[1, 1e12]", "of each chain; a step of gibbs is a sweep over all variables");
  declare("chains", &Self::chains, "[1, 1e12]", "independent chains").Default("one for each sample");
  declare("burn_in", &Self::burn_in, "[0, 1e12]",
          "steps before the first sample and before diagnostics begin")
      .Default("half of the steps");
  declare("thin", &Self::thin, "[1, 1e12]", "steps between two samples of one chain")
      .Default("as many as there is room for");
  declare("beta", &Self::beta, "", "inverse temperature B: draws from exp(-B U)");
  declare("seed", &Self::seed, "[0, inf)",
          "the same seed gives the same samples, whatever the number of threads");
  declare("sampler", &Self::sampler, SamplerTable, "how chains move");
  declare(
      "policy", &Self::policy, "FILE",
      "the policy.onnx of a run by eb-gfn or the aloe.onnx of one by aloe: chains move by what it proposes, "
      "accepted or not, in place of a sampler");
  declare(ProposalOptions::kVariablesKey, &Self::policy_variables, "[1, 1e9]",
          "of eb-gfn: variables that it rebuilds in a step")
      .Default("all")
      .When("policy", "*");
  declare(ProposalOptions::kCopiesKey, &Self::policy_copies, "[1, 1e6]",
          "of aloe: ways to each row that are looked at")
      .Default(std::to_string(ProposalOptions::kCopies))
      .When("policy", "*");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

SampleSchedule MakeSchedule(const SampleOptions& options, const SampleStart& start) {
  SampleSchedule schedule;
  schedule.samples = options.samples.value_or(start.rows > 0 ? start.rows : 100);
  schedule.chains = options.chains.value_or(schedule.samples);
  schedule.steps = options.steps;
  if (schedule.chains < start.rows && !start.clamped.empty())
    throw OptionError("chains", fmt::format("must be {} or more: each of the {} rows with kept values needs "
                                            "a chain",
                                            start.rows, start.rows));
  schedule.draws = (schedule.samples + schedule.chains - 1) / schedule.chains;
  schedule.burn_in = options.burn_in.value_or(schedule.steps / 2);
  schedule.thin =
      options.thin.value_or(std::max<int64_t>(1, (schedule.steps - schedule.burn_in) / schedule.draws));
  if (schedule.first() <= schedule.burn_in) {
    throw OptionError(
        "steps",
        fmt::format("must be {} or more: each chain gives {} of the {} samples, {} steps apart, after "
                    "a burn-in of {} steps (more chains need fewer)",
                    schedule.burn_in + 1 + (schedule.draws - 1) * schedule.thin, schedule.draws,
                    schedule.samples, schedule.thin, schedule.burn_in));
  }
  return schedule;
}

SampleResult Sample(const LoadedModel& loaded, const SampleStart& start, const SampleOptions& options,
                    const SampleSinks& sinks, Observer& observer) {
  CheckOptions(options);
  const Stopwatch stopwatch;
  const EnergyModel& model = ModelFor(loaded, options.sampler);
  SampleResult result;
  result.schedule = MakeSchedule(options, start);
  const int64_t chains = result.schedule.chains;
  ModelEnergy energy(loaded, model, options.threads, observer);
  const int64_t budget = std::min(EnergyFunctionOptions().evaluation_budget,
                                  ExpectedEvaluations(result.schedule, options.sampler, model.dimension()));
  // Plain tempering for another beta; tempering of the model itself goes towards its base distribution.
  const std::shared_ptr<const BaseDistribution> base = MakeBaseDistribution(model, options.threads);
  const std::shared_ptr<const EnergyFunction>& function = energy.get(budget);
  const EnergyPath path = options.beta == 1 ? EnergyPath(function, base) : EnergyPath(function);
  const auto sampler = ChooseSampler(options, path);
  Chains begin = StartChainsAt(path, start.States(*base, chains, options.seed), options.seed);
  begin.clamped = start.Clamps(chains);
  begin.betas.assign(begin.betas.size(), options.beta);
  SampleRun run(*sampler, std::move(begin), path.variables(), sinks, observer, result);
  run.Run();
  result.quadratic = path.energy->quadratic() != nullptr;
  if (result.complete) WarnOfChains(run.chains(), result, observer);
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
