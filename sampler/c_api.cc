#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/sampler.h"
#include "ort_ed/sampler_c_api.h"
#include "runtime/support/c_api_support.h"

struct ort_ed_chains {
  std::unique_ptr<ort_ed::Sampler> sampler;
  ort_ed::Chains chains;
};

namespace ort_ed {
namespace {

ort_ed_sampler_options Checked(const ort_ed_sampler_options* given) {
  constexpr size_t kFirstSize = offsetof(ort_ed_sampler_options, lowest_beta) + sizeof(double);
  return KnownOptions<ort_ed_sampler_options>(given, ORT_ED_SAMPLER_OPTIONS_INIT, kFirstSize,
                                              "ORT_ED_SAMPLER_OPTIONS_INIT");
}

std::string SamplerName(const ort_ed_sampler_options& options) {
  return options.sampler == nullptr ? "gibbs" : options.sampler;
}

SamplerOptions SamplerOptionsOf(const ort_ed_sampler_options& given) {
  SamplerOptions options;
  options.scan = given.random_scan != 0 ? Scan::kRandom : Scan::kSystematic;
  if (given.threads < 0)
    throw Error(ErrorCode::kInvalidArgument, "the number of threads must not be negative");
  options.threads = given.threads;
  options.block = given.block;
  options.flips = given.flips;
  options.step_size = given.step_size;
  options.path_length = given.path_length;
  if (given.inner != nullptr) options.inner = given.inner;
  options.temperatures = given.temperatures;
  options.lowest_beta = given.lowest_beta;
  return options;
}

Chains Start(const EnergyModel& model, const EnergyPath& target, int64_t count, const uint8_t* states,
             uint64_t seed) {
  if (count < 1) throw Error(ErrorCode::kInvalidArgument, "there must be at least one chain");
  if (states == nullptr)
    return StartChainsAt(target, BernoulliBase::OfModel(model).DrawRows(seed, 0, count), seed);
  const std::span<const uint8_t> given = ArrayArgument(states, count, model.dimension(), "states");
  return StartChainsAt(target, {given.begin(), given.end()}, seed);
}

}  // namespace
}  // namespace ort_ed

using namespace ort_ed;

const char* ort_ed_sampler_name(int index) {
  return index >= 0 && static_cast<size_t>(index) < Samplers().size() ? Samplers()[index]->name : nullptr;
}

ort_ed_status ort_ed_chains_start(const ort_ed_model* model, int64_t count, const uint8_t* states,
                                  const uint8_t* clamped, const ort_ed_sampler_options* options,
                                  ort_ed_chains** chains) {
  return Guarded([&] {
    RequireNotNull(chains, "chains");
    *chains = nullptr;
    RequireNotNull(model, "model");
    const ort_ed_sampler_options given = Checked(options);
    if (!std::isfinite(given.beta)) throw Error(ErrorCode::kInvalidArgument, "beta must be a finite number");
    // exp(-beta U) is the path towards the uniform distribution.
    const EnergyPath target(MakeEnergyFunction(model->model, {.threads = given.threads}));
    auto made = std::make_unique<ort_ed_chains>();
    made->sampler = MakeSampler(SamplerName(given), target, SamplerOptionsOf(given));
    made->chains = Start(model->model, target, count, states, given.seed);
    made->chains.betas.assign(made->chains.betas.size(), given.beta);
    if (clamped != nullptr) {
      const auto mask = ArrayArgument(clamped, count, model->model.dimension(), "clamped");
      made->chains.clamped.assign(mask.begin(), mask.end());
    }
    *chains = made.release();
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
    annealing.sampler = SamplerName(given);
    annealing.sampler_options = SamplerOptionsOf(given);
    Annealing run =
        Annealing::Forward(EnergyPath(MakeEnergyFunction(model->model, {.threads = given.threads}),
                                      BernoulliBase::OfModel(model->model)),
                           annealing);
    run.Run();
    const LogZEstimate result = run.Estimate();
    *estimate = {result.log_z, result.standard_error, result.effective_samples};
  });
}
