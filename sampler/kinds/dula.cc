#include "sampler/kinds/langevin_flips.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDulaPurpose = 0x44554C41;  // "DULA"

class Dula final : public GradientSampler {
 public:
  using Options = LangevinOptions;

  Dula(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, threads, kDulaPurpose, std::make_unique<LangevinFlips>(options.step_size),
                        false) {}
};

}  // namespace

extern const SamplerKind kDulaSampler =
    MakeSamplerKind<Dula>("dula", "discrete Langevin, unadjusted: fast, biased by its step size",
                          {.needs_gradient = true, .exact = false});

}  // namespace ort_ed
