#include <algorithm>

#include "trainer/negatives/mixture.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

constexpr char kKey[] = "method";

}

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

std::string ObjectiveOf(const Choice& method) {
  return NegativeKinds()[Resolve(method, NegativeTable(), kKey).front().row]->objective;
}

bool IsObjectiveOfMethods(const std::string& objective) {
  return std::ranges::any_of(NegativeKinds(),
                             [&](const NegativeKind* kind) { return kind->objective == objective; });
}

}  // namespace ort_ed
