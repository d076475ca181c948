#include "tools/jobs/data/synth_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "models/architectures/energy_spec.h"
#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "runtime/support/named.h"
#include "tools/jobs/data/ising_rows.h"
#include "tools/jobs/settings/setting_value.h"

namespace ort_ed {
namespace {

constexpr const char* kIsing = "ising";

struct SynthOption {
  const char* name;
  void (*set)(IsingRequest& request, const std::string& value);
};

constexpr SynthOption kIsingOptions[] = {
    {"shape",
     [](IsingRequest& request, const std::string& value) {
       const std::vector<int64_t> shape = ParseImageShape(value);
       request.height = shape[0];
       request.width = shape[1];
     }},
    {"sigma", [](IsingRequest& request, const std::string& value) { ParseValue(value, request.sigma); }},
    {"rows", [](IsingRequest& request, const std::string& value) { ParseValue(value, request.rows); }},
    {"steps", [](IsingRequest& request, const std::string& value) { ParseValue(value, request.updates); }},
};

// "ising:shape=4x4,rows=100" in its parts.
struct SynthName {
  explicit SynthName(const std::string& text) : name(text.substr(0, text.find(':'))) {
    if (name.size() == text.size()) return;
    Words assignments;
    ParseValue(text.substr(name.size() + 1), assignments);
    for (const std::string& assignment : assignments) {
      const size_t equals = std::min(assignment.find('='), assignment.size());
      options.emplace_back(assignment.substr(0, equals),
                           assignment.substr(std::min(equals + 1, assignment.size())));
    }
  }

  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
};

const SynthOption& FindOption(const std::string& name) {
  return FindNamed(kIsingOptions, name, "option of synth:ising");
}

void CheckNames(const SynthName& synth) {
  std::vector<std::string> names = {kIsing};
  for (const PlanarDensity& density : PlanarDensities()) names.emplace_back(density.name);
  FindNamed(names, synth.name, "synthetic data set");
  if (synth.name == kIsing)
    for (const auto& [name, value] : synth.options) FindOption(name);
}

IsingRequest ParseIsing(const SynthName& synth) {
  IsingRequest request;
  for (const auto& [name, value] : synth.options) {
    try {
      FindOption(name).set(request, value);
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}={}' of synth:ising: {}", name, value, error.what()));
    }
  }
  if (request.rows < 2) throw Error(ErrorCode::kInvalidArgument, "synth:ising needs at least 2 rows");
  return request;
}

}  // namespace

void CheckSynthNames(const std::string& name) { CheckNames(SynthName(name)); }

RowStore DrawSynthRows(const std::string& name, uint64_t seed) {
  const SynthName synth(name);
  CheckNames(synth);
  if (synth.name != kIsing) throw Error(ErrorCode::kInvalidArgument, synth.name + " takes no options");
  IsingRequest request = ParseIsing(synth);
  request.seed = seed;
  RowStore store(request.height * request.width, /*grey=*/false);
  DrawIsingRows(request, [&](std::span<const uint8_t> rows) { store.Append(rows); });
  return store;
}

}  // namespace ort_ed
