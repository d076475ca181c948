#pragma once

#include <string>

#include "models/architectures/energy_context.h"

namespace ort_ed {

// Of a masked autoencoder on images: a part that looks at the pixels around each one, with weights that all
// pixels share, beside the part that sees all of them.
struct ViewOptions {
  std::string view;
  int64_t maps = 32;
  int64_t blocks = 3;

  static void Describe(Declare<ViewOptions>& declare);
  bool active() const { return !view.empty(); }
};

// The log odds [batch, D] that it adds, of each pixel by those above it and to its left. Notes in the
// metadata what samplers need to know. Throws OptionError where there is no image or no room for the view.
Value ViewLogOdds(const EnergyContext& context, const ViewOptions& options);

}  // namespace ort_ed
