#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/sampler.h"
#include "ort_ed/sampler_c_api.h"
#include "runtime/support/c_api_support.h"
#include "sampler/kinds/former_options.h"

struct ort_ed_options {
  ort_ed::GivenOptions given;
};

struct ort_ed_chains {
  std::unique_ptr<ort_ed::Sampler> sampler;
  ort_ed::Chains chains;
};

namespace ort_ed {
namespace {

struct ChainOptions {
  Choice sampler = "gibbs";
  uint64_t seed = 0;
  int threads = 0;
  double beta = 1;
  static void Describe(Declare<ChainOptions>& declare) {
    declare("sampler", &ChainOptions::sampler, SamplerTable, "how chains move");
    declare("seed", &ChainOptions::seed, "[0, inf)", "of all random numbers");
    declare("threads", &ChainOptions::threads, "[0, inf)", "of the work outside the model; 0: all cores");
    declare("beta", &ChainOptions::beta, "", "inverse temperature");
  }
};

struct LogZOptions {
  AnnealingOptions annealing;
  uint64_t seed = 0;
  static void Describe(Declare<LogZOptions>& declare) {
    declare.All(&LogZOptions::annealing);
    declare("seed", &LogZOptions::seed, "[0, inf)", "of all random numbers");
  }
};

template <typename Options>
Options ReadOptions(const ort_ed_options* given) {
  Options options;
  if (given != nullptr) given->given.ApplyTo(options);
  return options;
}

ort_ed_sampler_options Checked(const ort_ed_sampler_options* given) {
  constexpr size_t kFirstSize = offsetof(ort_ed_sampler_options, lowest_beta) + sizeof(double);
  return KnownOptions<ort_ed_sampler_options>(given, ORT_ED_SAMPLER_OPTIONS_INIT, kFirstSize,
                                              "ORT_ED_SAMPLER_OPTIONS_INIT");
}

// The sampler that the struct asks for; what belongs to others is ignored there.
Choice ReadSampler(const ort_ed_sampler_options& given) {
  SamplerOptions options;
  options.scan = given.random_scan != 0 ? Scan::kRandom : Scan::kSystematic;
  options.block = given.block;
  options.flips = given.flips;
  options.step_size = given.step_size;
  options.path_length = given.path_length;
  if (given.inner != nullptr) options.inner = given.inner;
  options.temperatures = given.temperatures;
  options.lowest_beta = given.lowest_beta;
  return TranslateOptions(given.sampler == nullptr ? "gibbs" : given.sampler, options);
}

Chains StartStates(const EnergyModel& model, const EnergyPath& target, int64_t count, const uint8_t* states,
                   uint64_t seed) {
  if (count < 1) throw Error(ErrorCode::kInvalidArgument, "there must be at least one chain");
  if (states == nullptr)
    return StartChainsAt(target, MakeBaseDistribution(model)->DrawRows(seed, 0, count), seed);
  const std::span<const uint8_t> given = ArrayArgument(states, count, model.dimension(), "states");
  return StartChainsAt(target, {given.begin(), given.end()}, seed);
}

std::unique_ptr<ort_ed_chains> Start(const EnergyModel& model, int64_t count, const uint8_t* states,
                                     const uint8_t* clamped, const ChainOptions& options) {
  // exp(-beta U) is the path towards the uniform distribution.
  const EnergyPath target(MakeEnergyFunction(model, {.threads = options.threads}));
  auto made = std::make_unique<ort_ed_chains>();
  made->sampler = MakeSampler(options.sampler, target, options.threads);
  made->chains = StartStates(model, target, count, states, options.seed);
  made->chains.betas.assign(made->chains.betas.size(), options.beta);
  if (clamped != nullptr) {
    const auto mask = ArrayArgument(clamped, count, model.dimension(), "clamped");
    made->chains.clamped.assign(mask.begin(), mask.end());
  }
  return made;
}

ort_ed_log_z_estimate EstimateLogZ(const EnergyModel& model, const AnnealingOptions& options) {
  Annealing run = Annealing::Forward(EnergyPath(MakeEnergyFunction(model, {.threads = options.threads}),
                                                MakeBaseDistribution(model, options.threads)),
                                     options);
  run.Run();
  const LogZEstimate result = run.Estimate();
  return {result.log_z, result.standard_error, result.effective_samples};
}

}  // namespace
}  // namespace ort_ed

using namespace ort_ed;

const char* ort_ed_sampler_name(int index) {
  return index >= 0 && static_cast<size_t>(index) < Samplers().size() ? Samplers()[index]->name : nullptr;
}

ort_ed_options* ort_ed_options_new(void) { return new (std::nothrow) ort_ed_options; }

void ort_ed_options_free(ort_ed_options* options) { delete options; }

ort_ed_status ort_ed_options_set(ort_ed_options* options, const char* key, const char* value) {
  return Guarded([&] {
    RequireNotNull(options, "options");
    RequireNotNull(key, "key");
    RequireNotNull(value, "value");
    options->given.Add(key, std::string(value), key);
  });
}

ort_ed_status ort_ed_chains_start(const ort_ed_model* model, int64_t count, const uint8_t* states,
                                  const uint8_t* clamped, const ort_ed_sampler_options* options,
                                  ort_ed_chains** chains) {
  return Guarded([&] {
    RequireNotNull(chains, "chains");
    *chains = nullptr;
    RequireNotNull(model, "model");
    const ort_ed_sampler_options given = Checked(options);
    ChainOptions wanted{.sampler = ReadSampler(given), .threads = given.threads, .beta = given.beta};
    CheckOptions(wanted);
    wanted.seed = given.seed;  // all 64 bits are good
    *chains = Start(model->model, count, states, clamped, wanted).release();
  });
}

ort_ed_status ort_ed_chains_start_by_name(const ort_ed_model* model, int64_t count, const uint8_t* states,
                                          const uint8_t* clamped, const ort_ed_options* options,
                                          ort_ed_chains** chains) {
  return Guarded([&] {
    RequireNotNull(chains, "chains");
    *chains = nullptr;
    RequireNotNull(model, "model");
    *chains = Start(model->model, count, states, clamped, ReadOptions<ChainOptions>(options)).release();
  });
}

void ort_ed_chains_free(ort_ed_chains* chains) { delete chains; }

ort_ed_status ort_ed_chains_step(ort_ed_chains* chains, int64_t steps) {
  return Guarded([&] {
    RequireNotNull(chains, "chains");
    if (steps < 0) throw Error(ErrorCode::kInvalidArgument, "the number of steps must not be negative");
    chains->sampler->Step(chains->chains, steps);
  });
}

ort_ed_status ort_ed_chains_read(const ort_ed_chains* chains, uint8_t* states, double* energies) {
  return Guarded([&] {
    RequireNotNull(chains, "chains");
    const Chains& source = chains->chains;
    if (states != nullptr) std::copy(source.states.begin(), source.states.end(), states);
    if (energies != nullptr) std::copy(source.energies.begin(), source.energies.end(), energies);
  });
}

double ort_ed_chains_acceptance_rate(const ort_ed_chains* chains) {
  if (chains == nullptr || chains->chains.counters.proposals == 0) return 0;
  const StepCounters& counters = chains->chains.counters;
  return static_cast<double>(counters.acceptances) / static_cast<double>(counters.proposals);
}

double ort_ed_chains_move_rate(const ort_ed_chains* chains) {
  if (chains == nullptr || chains->chains.counters.proposals == 0) return 0;
  const StepCounters& counters = chains->chains.counters;
  return static_cast<double>(counters.moves) / static_cast<double>(counters.proposals);
}

ort_ed_status ort_ed_log_z_ais(const ort_ed_model* model, int64_t chains, int64_t temperatures,
                               const ort_ed_sampler_options* options, ort_ed_log_z_estimate* estimate) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    RequireNotNull(estimate, "estimate");
    const ort_ed_sampler_options given = Checked(options);
    AnnealingOptions annealing;
    annealing.temperatures = temperatures;
    annealing.chains = chains;
    annealing.seed = given.seed;
    annealing.sampler = ReadSampler(given);
    annealing.threads = given.threads;
    *estimate = EstimateLogZ(model->model, annealing);
  });
}

ort_ed_status ort_ed_log_z_by_name(const ort_ed_model* model, const ort_ed_options* options,
                                   ort_ed_log_z_estimate* estimate) {
  return Guarded([&] {
    RequireNotNull(model, "model");
    RequireNotNull(estimate, "estimate");
    LogZOptions wanted = ReadOptions<LogZOptions>(options);
    wanted.annealing.seed = wanted.seed;
    *estimate = EstimateLogZ(model->model, wanted.annealing);
  });
}
