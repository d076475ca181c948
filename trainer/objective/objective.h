#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "models/graph/graph_builder.h"
#include "ort_ed/options.h"

namespace ort_ed {

// The energies of a batch: groups of one positive and its M negatives.
struct GroupEnergies {
  Value energies;  // groups * (1 + M) values, [rows] or [rows, 1]
  int64_t negatives = 1;
  Value log_weights;   // [groups, 1 + M]; no name: without weights
  Value group_weight;  // [1]; 1 / groups makes the loss a mean, smaller values leave room for other
                       // micro-batches
};

// The loss and, written out, its derivative with respect to each energy: since a loss sees the parameters
// only through the energies, d loss / d theta = sum_i c_i dU(x_i) / d theta.
struct ObjectiveNodes {
  Value losses;          // [3]: loss, energy of the positives, energy of the negatives, all weighted sums
  Value energy_weights;  // c, of the shape of the energies
};

// What a training minimises, as nodes from the network's output to a loss.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual ObjectiveNodes Emit(const GroupEnergies& groups) const = 0;
};

struct ObjectiveKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  std::unique_ptr<Objective> (*make)(const OptionMap& options);
  bool for_policies = false;  // of networks that methods train beside the energy; not to be chosen for it
};

// An objective made from a class with `struct Options` and a constructor of it.
template <typename O>
constexpr ObjectiveKind MakeObjectiveKind(const char* name, const char* summary) {
  return {name, summary, &SchemaOf<typename O::Options>,
          [](const OptionMap& options) -> std::unique_ptr<Objective> {
            return std::make_unique<O>(MakeOptions<typename O::Options>(options));
          }};
}

constexpr ObjectiveKind ForPolicies(ObjectiveKind kind) {
  kind.for_policies = true;
  return kind;
}

std::span<const ObjectiveKind* const> ObjectiveKinds();
KindTable ObjectiveTable();
// Throws OptionError.
std::unique_ptr<Objective> MakeObjective(const Choice& objective);

// Cuts `value` along an axis, in the form that the model's opset wants.
std::vector<Value> EmitSplit(const Value& value, int64_t axis, std::span<const int64_t> sizes);

}  // namespace ort_ed
