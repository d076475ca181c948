#include "tools/jobs/annealing_state.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include <onnx/onnx_pb.h>
#include <spdlog/fmt/ranges.h>
#include <zlib.h>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/support/atomic_file.h"

namespace ort_ed {
namespace {

constexpr const char* kFormat = "ort-ed annealing 3";

uint32_t Checksum(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename Values>
std::string Digest(const Values& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return fmt::format("{}:{:08x}", bytes.size(), Checksum(bytes));
}

// A checksum in front of the bytes: a changed byte must not become a changed result.
std::string Sealed(const std::vector<uint8_t>& bytes) {
  const std::string checksum = fmt::format("{:08x}", Checksum(std::as_bytes(std::span(bytes))));
  return checksum + std::string(bytes.begin(), bytes.end());
}

// What was sealed; nothing if it is damaged.
std::string Unsealed(const std::string& file) {
  constexpr size_t kChecksumSize = 8;
  if (file.size() < kChecksumSize) return {};
  const std::string bytes = file.substr(kChecksumSize);
  const bool whole =
      fmt::format("{:08x}", Checksum(std::as_bytes(std::span(bytes)))) == file.substr(0, kChecksumSize);
  return whole ? bytes : std::string();
}

std::string DescribeSampler(const Choice& sampler) {
  std::string text = sampler.kind;
  for (const auto& [key, value] : sampler.options) text += " " + key + "=" + FormatOption(value);
  return text;
}

// Everything the result depends on, by the names that a message gives it. The structured bindings name every
// member, so that a new option does not compile before somebody has decided whether it belongs here.
nlohmann::json Describe(const AnnealingPlan& plan) {
  const auto& [temperatures, spacing, sampler, moves, chains, chains_at_once, seed, all_threads] =
      plan.options;
  const auto& [scan, updates, block, flips, step_size, path_length, inner, rungs, lowest_beta, threads] =
      moves;
  static_cast<void>(threads), static_cast<void>(all_threads);  // change nothing in the result
  return {{"model", ModelDigest(plan.model)},
          {"base", Digest(plan.target.base.fields())},
          {"direction", plan.starts ? "reverse" : "forward"},
          {"starting rows", plan.starts ? Digest(*plan.starts) : ""},
          {"temperatures", temperatures},
          {"spacing", static_cast<int>(spacing)},
          {"sampler", DescribeSampler(sampler)},
          {"chains", chains},
          {"chains at once", chains_at_once},
          {"seed", seed},
          {"scan", static_cast<int>(scan)},
          {"updates", updates},
          {"block", block},
          {"flips", flips},
          {"step size", step_size},
          {"path length", path_length},
          {"inner sampler", inner},
          {"tempering temperatures", rungs},
          {"lowest beta", lowest_beta}};
}

std::vector<std::string> Differences(const nlohmann::json& stored, const nlohmann::json& plan) {
  std::vector<std::string> names;
  for (const auto& [name, value] : plan.items())
    if (stored.at(name) != value) names.push_back(name);
  return names;
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

}  // namespace

std::string ModelDigest(const std::string& path) { return Digest(SerializeModel(LoadModel(path))); }

AnnealingStateFile::AnnealingStateFile(std::string path, const AnnealingPlan& plan) : path_(std::move(path)) {
  if (!path_.empty()) plan_ = Describe(plan);
}

bool AnnealingStateFile::Exists() const { return !path_.empty() && std::filesystem::exists(path_); }

AnnealingState AnnealingStateFile::Load() const {
  std::ifstream file(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    const nlohmann::json json = nlohmann::json::from_cbor(Unsealed(bytes));
    if (json.at("format") != kFormat)
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' is of another version of ort-ed; remove it to start anew", path_));
    const auto differences = Differences(json.at("plan"), plan_);
    if (!differences.empty()) {
      throw Error(
          ErrorCode::kBadData,
          fmt::format("'{}' is the state of another run: it differs in {}; name another --state file, "
                      "or remove this one to start anew",
                      path_, fmt::join(differences, ", ")));
    }
    return Parse(json);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadData,
                fmt::format("'{}' is damaged or no state of an annealing; remove it to start anew", path_));
  }
}

// CBOR of the state's members: exact for doubles, compact for states.
void AnnealingStateFile::Store(const AnnealingState& state) const {
  if (path_.empty()) return;
  const Chains& chains = state.chains;
  const StepCounters& spent = chains.counters;
  const StepCounters& before = state.counters;
  const nlohmann::json json = {
      {"format", kFormat},
      {"plan", plan_},
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
  WriteFileAtomically(path_, Sealed(nlohmann::json::to_cbor(json)));
}

}  // namespace ort_ed
