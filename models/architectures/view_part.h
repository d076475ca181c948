#pragma once

#include <string>
#include <vector>

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

// The order of all pixels, row by row, from the corner where network 0, 1, ... of a mixture begins: upper
// left, lower right, upper right, lower left. Throws OptionError for further ones.
std::vector<int64_t> OrderFromCorner(const std::vector<int64_t>& image_shape, int64_t network);

// The log odds [batch, D] that the view of this network adds, of each pixel by those above it and to its left
// in the image that is turned so that the order begins at the upper left. Notes in the metadata what samplers
// need to know. Throws OptionError where there is no image or no room for the view.
Value ViewLogOdds(const EnergyContext& context, const ViewOptions& options, int64_t network);

}  // namespace ort_ed
