#include "tools/synth_rows.h"

#include <map>

#include <spdlog/fmt/fmt.h>

#include "models/energy_spec.h"
#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "tools/data_ising.h"
#include "trainer/setting_value.h"

namespace ort_ed {
namespace {

std::string Names() {
  std::string names = "ising[:shape=HxW,sigma=S,rows=N,steps=N]";
  for (const PlanarDensity& density : PlanarDensities()) names += fmt::format(", {}", density.name);
  return names;
}

void SetOption(IsingRequest& request, const std::string& name, const std::string& value) {
  if (name == "shape") {
    const std::vector<int64_t> shape = ParseImageShape(value);
    request.height = shape[0];
    request.width = shape[1];
  } else if (name == "sigma") {
    ParseValue(value, request.sigma);
  } else if (name == "rows") {
    ParseValue(value, request.rows);
  } else if (name == "steps") {
    ParseValue(value, request.updates);
  } else {
    throw std::invalid_argument("it has the options shape, sigma, rows and steps");
  }
}

IsingRequest ParseIsing(const std::string& options) {
  IsingRequest request;
  Words assignments;
  ParseValue(options, assignments);
  for (const std::string& assignment : assignments) {
    const size_t equals = std::min(assignment.find('='), assignment.size());
    const std::string value = assignment.substr(std::min(equals + 1, assignment.size()));
    try {
      SetOption(request, assignment.substr(0, equals), value);
    } catch (const std::exception& error) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' of synth:ising: {}", assignment, error.what()));
    }
  }
  if (request.rows < 2) throw Error(ErrorCode::kInvalidArgument, "synth:ising needs at least 2 rows");
  return request;
}

}  // namespace

RowStore DrawSynthRows(const std::string& name, uint64_t seed) {
  const size_t colon = std::min(name.find(':'), name.size());
  if (name.substr(0, colon) != "ising")
    throw Error(ErrorCode::kInvalidArgument, "there is no such synthetic data; there is " + Names());
  IsingRequest request = ParseIsing(name.substr(std::min(colon + 1, name.size())));
  request.seed = seed;
  RowStore store(request.height * request.width, /*grey=*/false);
  DrawIsingRows(request, [&](std::span<const uint8_t> rows) { store.Append(rows); });
  return store;
}

}  // namespace ort_ed
