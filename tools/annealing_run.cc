#include "tools/annealing_run.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/data/atomic_file.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/sampler_arguments.h"

namespace ort_ed {
namespace {

constexpr std::chrono::seconds kStorePeriod(60);

// CBOR of the state's members: exact for doubles, compact for states.
void Store(const std::string& path, const std::string& fingerprint, const AnnealingState& state) {
  const Chains& chains = state.chains;
  const StepCounters& spent = chains.counters;
  const StepCounters& before = state.counters;
  const nlohmann::json json = {
      {"format", "ort-ed annealing 1"},
      {"fingerprint", fingerprint},
      {"temperatures", state.temperatures},
      {"log_weights", state.log_weights},
      {"ends", nlohmann::json::binary(state.ends)},
      {"moves", state.moves},
      {"partial", state.partial},
      {"count", chains.count},
      {"dimension", chains.dimension},
      {"states", nlohmann::json::binary(std::vector<uint8_t>(chains.states.begin(), chains.states.end()))},
      {"energies", chains.energies},
      {"base_energies", chains.base_energies},
      {"betas", chains.betas},
      {"seed", chains.seed},
      {"step", chains.step},
      {"first_chain", chains.first_chain},
      {"evaluations", {spent.energy_evaluations, before.energy_evaluations}},
  };
  const std::vector<uint8_t> bytes = nlohmann::json::to_cbor(json);
  WriteFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

AnnealingState Parse(const nlohmann::json& json) {
  AnnealingState state;
  json.at("temperatures").get_to(state.temperatures);
  json.at("log_weights").get_to(state.log_weights);
  state.ends = json.at("ends").get_binary();
  json.at("moves").get_to(state.moves);
  json.at("partial").get_to(state.partial);
  json.at("count").get_to(state.chains.count);
  json.at("dimension").get_to(state.chains.dimension);
  const auto& states = json.at("states").get_binary();
  state.chains.states.assign(states.begin(), states.end());
  json.at("energies").get_to(state.chains.energies);
  json.at("base_energies").get_to(state.chains.base_energies);
  json.at("betas").get_to(state.chains.betas);
  json.at("seed").get_to(state.chains.seed);
  json.at("step").get_to(state.chains.step);
  json.at("first_chain").get_to(state.chains.first_chain);
  state.chains.counters.energy_evaluations = json.at("evaluations").at(0);
  state.counters.energy_evaluations = json.at("evaluations").at(1);
  return state;
}

AnnealingState Load(const std::string& path, const std::string& fingerprint) {
  std::ifstream file(path, std::ios::binary);
  try {
    const nlohmann::json json = nlohmann::json::from_cbor(file);
    if (json.at("fingerprint") != fingerprint) {
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' is the state of another run (other model, data or options); "
                              "name another --state file or remove it",
                              path));
    }
    return Parse(json);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadData,
                fmt::format("'{}' is damaged or no state of an annealing; remove it to start anew", path));
  }
}

}  // namespace

void AddAnnealingArguments(argparse::ArgumentParser& parser, int64_t default_temperatures) {
  AddSamplerArguments(parser);
  parser.add_argument("--temperatures")
      .default_value(default_temperatures)
      .scan<'i', int64_t>()
      .metavar("K")
      .help("ais, raise: distributions between the base and the model; one sampler step each");
  parser.add_argument("--spacing")
      .default_value(std::string("linear"))
      .metavar("NAME")
      .help("ais, raise: temperatures linear, sigmoid or adaptive (by a pilot run)");
  parser.add_argument("--chains")
      .default_value(int64_t{100})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("ais, raise: chains");
  parser.add_argument("--base")
      .default_value(std::string("model"))
      .metavar("BASE")
      .help("where the path begins: model (the base distribution in its metadata, else uniform) or uniform");
  parser.add_argument("--state")
      .default_value(std::string())
      .metavar("FILE")
      .help("ais, raise: keeps the state of a long run here; the same command continues from it");
}

AnnealingOptions ReadAnnealingOptions(const argparse::ArgumentParser& arguments) {
  const ChosenSampler sampler = ReadSamplerArguments(arguments);
  AnnealingOptions options;
  options.temperatures = arguments.get<int64_t>("--temperatures");
  options.spacing = ParseSpacing(arguments.get("--spacing"));
  options.sampler = sampler.name;
  options.sampler_options = sampler.options;
  options.chains = arguments.get<int64_t>("--chains");
  options.seed = arguments.get<uint64_t>("--seed");
  return options;
}

Target ReadTarget(const argparse::ArgumentParser& arguments, const EnergyModel& model) {
  const std::string base = arguments.get("--base");
  if (base != "model" && base != "uniform")
    throw UsageError(fmt::format("unknown base '{}'; there are model and uniform", base));
  const auto energy = MakeEnergyFunction(model);
  if (base == "uniform") return Target(energy);
  return Target(energy, BernoulliBase::OfModel(model));
}

void RunAnnealing(Annealing& annealing, const std::string& what, const std::string& state_file,
                  const std::string& fingerprint) {
  if (!state_file.empty() && std::filesystem::exists(state_file)) {
    annealing.Restore(Load(state_file, fingerprint));
    spdlog::info(
        "{}: continuing at {:.1f} % from '{}'", what,
        100.0 * static_cast<double>(annealing.done_work()) / static_cast<double>(annealing.total_work()),
        state_file);
  }
  Progress progress(what, "moves", annealing.total_work());
  auto stored = std::chrono::steady_clock::now();
  while (!annealing.finished()) {
    annealing.Advance(1);
    progress.Update(annealing.done_work());
    const auto now = std::chrono::steady_clock::now();
    const bool stop = Interrupted();
    if (!state_file.empty() && (stop || now - stored >= kStorePeriod)) {
      Store(state_file, fingerprint, annealing.state());
      stored = now;
    }
    if (stop) {
      throw Error(ErrorCode::kInterrupted,
                  state_file.empty()
                      ? "interrupted; with --state FILE the run could be continued"
                      : fmt::format("interrupted; the same command continues from '{}'", state_file));
    }
  }
  if (!state_file.empty()) std::filesystem::remove(state_file);
}

nlohmann::ordered_json ToJson(const LogZEstimate& estimate) {
  nlohmann::ordered_json json = {{"method", estimate.method},
                                 {"log_z", estimate.log_z},
                                 {"standard_error", estimate.standard_error},
                                 {"samples", estimate.samples},
                                 {"effective_samples", estimate.effective_samples}};
  if (!estimate.warning.empty()) json["warning"] = estimate.warning;
  return json;
}

std::string ToText(const LogZEstimate& estimate) {
  if (estimate.standard_error == 0) return fmt::format("{:.6f}  ({})", estimate.log_z, estimate.method);
  return fmt::format("{:.4f} +- {:.4f}  ({}; {:.1f} effective)", estimate.log_z, estimate.standard_error,
                     estimate.method, estimate.effective_samples);
}

WorkCallback ShowWork(const std::string& what, const std::string& unit) {
  auto progress = std::make_shared<std::unique_ptr<Progress>>();
  return [=](int64_t done, int64_t total) {
    if (Interrupted()) throw Error(ErrorCode::kInterrupted, "interrupted; nothing was written");
    if (!*progress) *progress = std::make_unique<Progress>(what, unit, total);
    (*progress)->Update(done);
  };
}

}  // namespace ort_ed
