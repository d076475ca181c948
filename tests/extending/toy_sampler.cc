// A sampler with an option of its own: every bit becomes `toy_value`.

#include <algorithm>

#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

class ToySampler final : public Sampler {
 public:
  struct Options {
    int toy_value = 0;
    static void Describe(Declare<Options>& declare) {
      declare("toy_value", &Options::toy_value, "[0, 1]", "of every bit");
    }
  };

  ToySampler(const EnergyPath& path, const Options& options, int)
      : path_(path), value_(static_cast<float>(options.toy_value)) {}

  void Step(Chains& chains, int64_t steps) override {
    std::ranges::fill(chains.states, value_);
    path_.energy->Energy(chains.states, chains.energies);
    chains.step += static_cast<uint64_t>(steps);
  }

 private:
  EnergyPath path_;
  float value_;
};

}  // namespace

extern const SamplerKind kToySampler =
    MakeSamplerKind<ToySampler>("toy", "all bits become one value", {.exact = false});

}  // namespace ort_ed
