#include "tools/jobs/log_z/annealing_state_file.h"

#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/read_file.h"
#include "runtime/support/text.h"
#include "tools/jobs/log_z/shallow_cbor.h"

namespace ort_ed {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "ort-ed annealing 5";

std::string Checksum(std::span<const uint8_t> bytes) {
  return fmt::format("{:08x}", static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size())));
}

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A checksum in front of the bytes: a changed byte must not become a changed result.
std::string Sealed(const std::vector<uint8_t>& bytes) {
  return Checksum(bytes) + std::string(bytes.begin(), bytes.end());
}

// What was sealed; nothing if it is damaged.
std::string Unsealed(const std::string& file) {
  constexpr size_t kChecksumSize = 8;
  if (file.size() < kChecksumSize) return {};
  const std::string bytes = file.substr(kChecksumSize);
  return Checksum(AsBytes(bytes)) == file.substr(0, kChecksumSize) ? bytes : std::string();
}

// Members that differ; where there are none, those that only one of them has: options of a sampler say
// nothing new where the sampler is another.
std::vector<std::string> Differences(const StatePlan& stored, const StatePlan& plan) {
  std::vector<std::string> differ, only_one;
  StatePlan all = stored;
  all.insert(plan.begin(), plan.end());
  for (const auto& [key, value] : all) {
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    if (!stored.contains(key) || !plan.contains(key)) {
      only_one.push_back(name);
    } else if (stored.at(key) != plan.at(key)) {
      differ.push_back(name);
    }
  }
  return differ.empty() ? only_one : differ;
}

AnnealingState ParseState(const json& stored) {
  AnnealingState state;
  stored.at("temperatures").get_to(state.temperatures);
  stored.at("log_weights").get_to(state.log_weights);
  state.ends = stored.at("ends").get_binary();
  stored.at("moves").get_to(state.moves);
  stored.at("partial").get_to(state.partial);
  stored.at("count").get_to(state.chains.count);
  stored.at("dimension").get_to(state.chains.dimension);
  const auto& states = stored.at("states").get_binary();
  state.chains.states.assign(states.begin(), states.end());
  stored.at("energies").get_to(state.chains.energies);
  stored.at("base_energies").get_to(state.chains.base_energies);
  stored.at("betas").get_to(state.chains.betas);
  stored.at("seed").get_to(state.chains.seed);
  stored.at("step").get_to(state.chains.step);
  stored.at("first_chain").get_to(state.chains.first_chain);
  state.chains.counters.energy_evaluations = stored.at("evaluations").at(0);
  state.counters.energy_evaluations = stored.at("evaluations").at(1);
  return state;
}

json ToJson(const AnnealingState& state) {
  const Chains& chains = state.chains;
  return {
      {"temperatures", state.temperatures},
      {"log_weights", state.log_weights},
      {"ends", json::binary(state.ends)},
      {"moves", state.moves},
      {"partial", state.partial},
      {"count", chains.count},
      {"dimension", chains.dimension},
      {"states", json::binary(std::vector<uint8_t>(chains.states.begin(), chains.states.end()))},
      {"energies", chains.energies},
      {"base_energies", chains.base_energies},
      {"betas", chains.betas},
      {"seed", chains.seed},
      {"step", chains.step},
      {"first_chain", chains.first_chain},
      {"evaluations", {chains.counters.energy_evaluations, state.counters.energy_evaluations}},
  };
}

// Deeper than the values of a state lie.
constexpr size_t kDeepest = 8;

json ParseCbor(const std::string& bytes) {
  return IsShallowCbor(bytes, kDeepest) ? json::from_cbor(bytes) : json();
}

std::string ReadAll(const std::string& path) {
  const auto bytes = ReadFile(path, "state");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

AnnealingStateFile::AnnealingStateFile(std::string path, StatePlan plan)
    : path_(std::move(path)), plan_(std::move(plan)) {
  if (std::filesystem::exists(path_)) Load();
  AtomicFile{path_};  // that it cannot be written should not be found out when it is needed
}

const AnnealingState* AnnealingStateFile::Find(const std::string& phase) const {
  const auto found = phases_.find(phase);
  return found == phases_.end() ? nullptr : &found->second;
}

std::string AnnealingStateFile::Summary() const {
  std::string summary;
  for (const auto& [phase, state] : phases_)
    summary +=
        fmt::format("{} at chain {} and temperature {}; ", phase, state.log_weights.size(), state.moves);
  return summary.empty() ? "none" : summary;
}

void AnnealingStateFile::Load() {
  try {
    const json stored = ParseCbor(Unsealed(ReadAll(path_)));
    const std::string format = stored.at("format");
    if (format != kFormat)
      throw Error(ErrorCode::kBadData, fmt::format("'{}' is the state of another version of ort-ed ({}, not "
                                                   "{}); name another file",
                                                   path_, format, kFormat));
    const auto differences = Differences(stored.at("plan").get<StatePlan>(), plan_);
    if (!differences.empty())
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' is the state of another run: it differs in {}; name another state file, "
                              "or remove this one to start anew",
                              path_, Join(differences, ", ")));
    for (const auto& [phase, state] : stored.at("phases").items()) phases_[phase] = ParseState(state);
  } catch (const json::exception&) {
    throw Error(ErrorCode::kBadData,
                fmt::format("'{}' is damaged or no state of an annealing; name another file", path_));
  }
  ours_ = true;
}

void RemoveState(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  const json stored = ParseCbor(Unsealed(ReadAll(path)));
  if (stored.is_object() && stored.value("format", json()) == kFormat) std::filesystem::remove(path);
}

// CBOR of the states' members: exact for doubles, compact for bits.
void AnnealingStateFile::Store(const std::string& phase, AnnealingState state) {
  if (!ours_ && std::filesystem::exists(path_))
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' was made by another program in the meantime and was left as it is", path_));
  phases_[phase] = std::move(state);
  json stored = {{"format", kFormat}, {"plan", plan_}, {"phases", json::object()}};
  for (const auto& [name, each] : phases_) stored["phases"][name] = ToJson(each);
  WriteFileAtomically(path_, Sealed(json::to_cbor(stored)));
  ours_ = true;
}

}  // namespace ort_ed
