#pragma once

#include "ort_ed/options.h"
#include "ort_ed/sampler.h"

namespace ort_ed {

// What all gradient-guided samplers have.
struct GradientOptions {
  GradientSource gradient = GradientSource::kAuto;

  static void Describe(Declare<GradientOptions>& declare) {
    declare("gradient", &GradientOptions::gradient,
            {{"auto", GradientSource::kAuto},
             {"derivative", GradientSource::kDerivative},
             {"differences", GradientSource::kDifferences}},
            "what tells good moves: derivative, of the energy; differences, the energies of all states one "
            "move away, D evaluations for each state; auto: derivative, refused where it does not see all "
            "that the model does with x");
  }
};

}  // namespace ort_ed
