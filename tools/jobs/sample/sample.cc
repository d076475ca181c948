#include "tools/jobs/sample/sample.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/sample/exact_draws.h"
#include "tools/jobs/sample/proposal.h"
#include "tools/jobs/stopwatch.h"
#include "trainer/collective/shared_sampler.h"

namespace ort_ed {
namespace {

constexpr char kAuto[] = "auto", kExact[] = "exact", kGibbs[] = "gibbs", kRefill[] = "refill";

struct NoOptions {
  static void Describe(Declare<NoOptions>&) {}
};

void Keep(const std::vector<uint8_t>& values, int64_t dimension, const SampleSinks& sinks,
          SampleResult& result) {
  const int64_t rows = std::ssize(values) / dimension;
  if (sinks.samples != nullptr) {
    sinks.samples->Write(values);
  } else {
    result.rows.insert(result.rows.end(), values.begin(), values.end());
  }
  const int64_t shown = std::clamp<int64_t>(SampleResult::kFirstSamples - result.samples, 0, rows);
  result.first_samples.insert(result.first_samples.end(), values.begin(), values.begin() + shown * dimension);
  result.samples += rows;
}

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
        recorder_(variables),
        pace_(observer.processes()) {}

  void Run() {
    const auto look = [this](int64_t steps) {
      step_ += steps;
      observer_.OnWork({"sampling", "steps", step_, schedule_.steps});
      return !StopTogether(observer_);
    };
    while (step_ < schedule_.steps && result_.complete) {
      const int64_t next = NextStop();
      const bool reached = AdvanceChains(sampler_, chains_, next - step_, pace_, look);
      if (reached) OnStop();
      result_.complete = reached && (step_ == schedule_.steps || !StopTogether(observer_));
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
    Keep({chains_.states.begin(), chains_.states.begin() + rows * chains_.dimension}, chains_.dimension,
         sinks_, result_);
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

// Whether the options say anything about chains.
bool AsksForChains(const SampleOptions& options, const SampleStart& start, const SampleSinks& sinks) {
  const bool only_starts = start.rows > 0 && start.clamped.empty();
  return options.steps || options.chains || options.burn_in || options.thin || !options.policy.empty() ||
         !options.sampler.options.empty() || sinks.trace != nullptr || only_starts;
}

// Draws of a learned base go far in one step, where a sweep takes an energy for every state of every
// variable; but they keep what is known only where it comes first in the base's order.
Choice ChooseChains(const LoadedModel& model, const SampleOptions& options, const SampleStart& start) {
  const bool of_gibbs = !options.sampler.options.empty();
  if (model.metadata().base && start.clamped.empty() && options.beta == 1 && !of_gibbs) return kRefill;
  return {kGibbs, options.sampler.options};
}

// `auto` as what it stands for.
Choice ResolveSampler(const LoadedModel& model, const SampleOptions& options, const SampleStart& start,
                      const SampleSinks& sinks) {
  if (options.sampler.kind != kAuto) return options.sampler;
  const auto states = CountOpenStates(model.energy_model().variables(), start);
  const bool few = states && *states <= kFewStates;
  return few && !AsksForChains(options, start, sinks) ? kExact : ChooseChains(model, options, start);
}

std::unique_ptr<Sampler> MakeChainSampler(const SampleOptions& options, const Choice& sampler,
                                          const EnergyPath& path, Collective& processes) {
  if (options.policy.empty())
    return ShareChains(MakeSampler(sampler, path, options.threads), path, processes);
  if (options.sampler.kind != kAuto || !options.sampler.options.empty())
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
  if (result.agreement.EnergiesDisagree() || result.agreement.VariablesDisagree())
    Warn(fmt::format("the chains do not agree yet: {}; run more steps or try the sampler tempering",
                     result.agreement.Describe()),
         result, observer);
}

void RunChains(const LoadedModel& loaded, const SampleStart& start, const SampleOptions& options,
               const Choice& choice, const SampleSinks& sinks, SampleResult& result, Observer& observer) {
  const EnergyModel& model = ModelFor(loaded, choice);
  const int64_t chains = result.schedule.chains;
  ModelEnergy energy(loaded, model, options.threads, observer);
  const int64_t budget = std::min(EnergyFunctionOptions().evaluation_budget,
                                  ExpectedEvaluations(result.schedule, choice, model.dimension()));
  // Plain tempering for another beta; tempering of the model itself goes towards its base distribution.
  const std::shared_ptr<const BaseDistribution> base = MakeBaseDistribution(model, options.threads);
  const std::shared_ptr<const EnergyFunction>& function = energy.get(budget);
  const EnergyPath path = options.beta == 1 ? EnergyPath(function, base) : EnergyPath(function);
  const auto sampler = MakeChainSampler(options, choice, path, observer.processes());
  Chains begin = StartChainsAt(path, start.States(*base, chains, options.seed), options.seed);
  begin.clamped = start.Clamps(chains);
  begin.betas.assign(begin.betas.size(), options.beta);
  SampleRun run(*sampler, std::move(begin), path.variables(), sinks, observer, result);
  run.Run();
  result.quadratic = path.energy->quadratic() != nullptr;
  result.agreement = JudgeChains(result.diagnostics, path.variables());
  if (result.complete) WarnOfChains(run.chains(), result, observer);
}

// Chains have nothing to say where there are none.
Diagnostics CostOf(int64_t evaluations, double seconds) {
  Diagnostics diagnostics;
  for (double* figure :
       {&diagnostics.acceptance_rate, &diagnostics.move_rate, &diagnostics.swap_rate,
        &diagnostics.jump_distance, &diagnostics.energy_ess, &diagnostics.energy_tail_ess,
        &diagnostics.energy_r_hat, &diagnostics.coordinate_ess, &diagnostics.coordinate_r_hat,
        &diagnostics.ess_per_second, &diagnostics.ess_per_evaluation})
    *figure = std::nan("");
  diagnostics.energy_evaluations = evaluations;
  diagnostics.seconds = seconds;
  return diagnostics;
}

void DrawExactly(const LoadedModel& loaded, const SampleStart& start, const SampleOptions& options,
                 const SampleSinks& sinks, SampleResult& result, Observer& observer) {
  if (start.rows > 0 && start.clamped.empty())
    throw Error(
        ErrorCode::kInvalidArgument,
        "sampler 'exact' has no chains that could start at rows of `init`; leave them out, or say what "
        "they keep");
  result.schedule = {.samples = result.schedule.samples,
                     .chains = result.schedule.samples,
                     .steps = 1,
                     .burn_in = 0,
                     .draws = 1,
                     .thin = 1};
  const Stopwatch stopwatch;
  ModelEnergy energy(loaded, loaded.energy_model(), options.threads, observer);
  const int64_t dimension = loaded.dimension();
  // Rows that are clamped each in its own way are drawn at once: each is enumerated only once.
  constexpr int64_t kBlock = 10'000;
  const int64_t block = start.clamped.empty() ? kBlock : result.schedule.samples;
  try {
    ExactDraws draws(*energy.get(0), start, options.beta, options.seed, observer);
    while (result.samples < result.schedule.samples) {
      const int64_t count = std::min(block, result.schedule.samples - result.samples);
      Keep(draws.Draw(result.samples, count), dimension, sinks, result);
      observer.OnWork({"sampling", "samples", result.samples, result.schedule.samples});
      result.complete = result.samples == result.schedule.samples || !observer.StopRequested();
      if (!result.complete) break;
    }
    result.diagnostics = CostOf(draws.evaluations(), stopwatch.Seconds());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    result.complete = false;
  }
}

}  // namespace

KindTable SampleTable() {
  KindTable table = SamplerTable();
  const Schema& gibbs = FindSampler(kGibbs).schema();
  table.rows.insert(table.rows.begin(),
                    {{kAuto,
                      "exact where there are up to 2^14 states and no option is about chains; else refill "
                      "where the base is learned and nothing is known of the rows; else gibbs",
                      &gibbs},
                     {kExact, "no chains: independent draws, by the probabilities of all states, up to 2^20",
                      &SchemaOf<NoOptions>()}});
  return table;
}

void SampleOptions::Describe(Declare<SampleOptions>& declare) {
  using Self = SampleOptions;
  constexpr char kChains[] = "!exact";
  declare("samples", &Self::samples, "[1, 1e12]", "how many")
      .Letter('n')
      .Default("100, or the rows of init or clamp");
  declare("steps", &Self::steps, "[1, 1e12]", "of each chain; a step of gibbs is a sweep over all variables")
      .Default(std::to_string(kSteps))
      .When("sampler", kChains);
  declare("chains", &Self::chains, "[1, 1e12]", "independent chains")
      .Default("one for each sample")
      .When("sampler", kChains);
  declare("burn_in", &Self::burn_in, "[0, 1e12]",
          "steps before the first sample and before diagnostics begin")
      .Default("half of the steps")
      .When("sampler", kChains);
  declare("thin", &Self::thin, "[1, 1e12]", "steps between two samples of one chain")
      .Default("as many as there is room for")
      .When("sampler", kChains);
  declare("beta", &Self::beta, "", "inverse temperature B: draws from exp(-B U)");
  declare("seed", &Self::seed, "[0, inf)",
          "the same seed gives the same samples, whatever the number of threads");
  declare("sampler", &Self::sampler, SampleTable, "how chains move, or exact: no chains");
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
  schedule.steps = options.steps.value_or(SampleOptions::kSteps);
  if (schedule.chains < start.rows && !start.clamped.empty())
    throw OptionError(options.chains ? "chains" : "samples",
                      fmt::format("must be {} or more: each of the {} rows with kept values needs a {}",
                                  start.rows, start.rows, options.chains ? "chain" : "sample"));
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
  const Choice sampler = ResolveSampler(loaded, options, start, sinks);
  SampleResult result;
  result.sampler = options.policy.empty() ? sampler.kind : "policy";
  result.schedule = MakeSchedule(options, start);
  if (sampler.kind == kExact) {
    DrawExactly(loaded, start, options, sinks, result, observer);
  } else {
    RunChains(loaded, start, options, sampler, sinks, result, observer);
  }
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
