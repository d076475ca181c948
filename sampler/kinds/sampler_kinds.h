#pragma once

#include "ort_ed/sampler.h"

// How a sampler becomes a row of the table: its class has a `struct Options` with a Describe() and is
// constructed from (const EnergyPath&, const Options&, int threads); its file ends with
//
//   extern const SamplerKind kNameSampler = MakeSamplerKind<Name>("name", "what it does");
//
// and the table in samplers.cc has its row. What the domains of the options say is true in the constructor.

namespace ort_ed {

struct SamplerTraits {
  bool needs_gradient = false;
  bool exact = true;
  bool needs_autoregressive_base = false;
};

template <typename Class>
constexpr SamplerKind MakeSamplerKind(const char* name, const char* summary, SamplerTraits traits = {}) {
  using Options = typename Class::Options;
  const auto make = [](const EnergyPath& target, const OptionMap& options,
                       int threads) -> std::unique_ptr<Sampler> {
    return std::make_unique<Class>(target, MakeOptions<Options>(options), threads);
  };
  return {name,
          summary,
          traits.needs_gradient,
          traits.exact,
          traits.needs_autoregressive_base,
          &SchemaOf<Options>,
          make};
}

}  // namespace ort_ed
