// An objective with an option of its own: the mean difference of energies, times `toy_scale`.

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class ToyObjective final : public Objective {
 public:
  struct Options {
    double toy_scale = 1;
    static void Describe(Declare<Options>& declare) {
      declare("toy_scale", &Options::toy_scale, "(0, 10]", "factor of the loss");
    }
  };

  explicit ToyObjective(const Options& options) : scale_(static_cast<float>(options.toy_scale)) {}

  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    GraphBuilder& graph = *groups.energies.graph;
    const int64_t m = groups.negatives;
    std::vector<float> signs(static_cast<size_t>(1 + m), -scale_ / static_cast<float>(m));
    signs[0] = scale_;
    const Value row = graph.Constant(std::vector<int64_t>{1, 1 + m}, signs) * groups.group_weight;
    const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + m});
    const Value loss = ReduceSum(Reshape(u * row, std::vector<int64_t>{-1}), {0}, true);
    const Value c = u * 0.0f + row;
    return {Op("Concat", {loss, loss, loss}, {{"axis", int64_t{0}}}),
            Op("Reshape", {c, Op("Shape", {groups.energies})})};
  }

 private:
  float scale_;
};

}  // namespace

extern const ObjectiveKind kToyObjective =
    MakeObjectiveKind<ToyObjective>("toy", "mean difference of energies");

}  // namespace ort_ed
