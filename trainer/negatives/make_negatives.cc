#include <algorithm>

#include "trainer/negatives/mixture.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

constexpr char kKey[] = "method";

void RequireVariables(const NegativeKind& kind, const Variables& variables) {
  if (variables.all_binary() || kind.rows == RowKind::kAny) return;
  std::string suited;
  for (const NegativeKind* other : NegativeKinds())
    if (other->rows == RowKind::kAny) suited += (suited.empty() ? "" : ", ") + std::string(other->name);
  int64_t broken = 0;
  while (variables.bits(broken) == 1) ++broken;
  throw OptionError(kKey, std::string("must be of ") + suited + ", not " + kind.name +
                              ", which knows bits only: '" + variables.Name(broken) + "' has " +
                              std::to_string(variables.states(broken)) +
                              " states, of which each row has exactly one");
}

}  // namespace

KindTable NegativeTable() {
  KindTable table = ListKinds(NegativeKinds());
  table.joined = true;
  return table;
}

std::unique_ptr<NegativeSource> MakeNegatives(const Choice& method, const RowContext& rows) {
  if (rows.dimension < 1)
    throw Error(ErrorCode::kInvalidArgument, "negatives need rows with a dimension of at least 1");
  const std::vector<ChosenKind> chosen = Resolve(method, NegativeTable(), kKey);
  std::vector<std::unique_ptr<Perturbation>> perturbations;
  for (const auto& [row, options] : chosen) {
    const NegativeKind& kind = *NegativeKinds()[row];
    RequireVariables(kind, VariablesOf(rows));
    if (kind.perturbation != nullptr) {
      perturbations.push_back(kind.perturbation(options, rows));
    } else if (chosen.size() == 1) {
      return kind.source(options, rows);
    } else {
      throw OptionError(kKey, std::string("must have ") + kind.name + " alone, not joined with others");
    }
  }
  return MakePerturbationSource(MakeMixture(std::move(perturbations)));
}

// Measured in docs/tables.md.
Choice MethodForCategories(const Variables&) { return "uniform"; }

std::string ObjectiveOf(const Choice& method) {
  return NegativeKinds()[Resolve(method, NegativeTable(), kKey).front().row]->objective;
}

bool IsObjectiveOfMethods(const std::string& objective) {
  return std::ranges::any_of(NegativeKinds(),
                             [&](const NegativeKind* kind) { return kind->objective == objective; });
}

}  // namespace ort_ed
