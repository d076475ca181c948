#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/architectures/view_part.h"
#include "ort_ed/options.h"

namespace ort_ed {

// Of `base made`: the network, and how it is trained by maximum likelihood before the energy.
struct MadeBaseOptions {
  std::vector<int64_t> base_hidden = {500};
  std::string base_order = "ascending";
  int64_t base_orders = 1;
  std::string base_view;
  int64_t base_maps = ViewOptions().maps;
  int64_t base_blocks = ViewOptions().blocks;
  double base_dropout = 0.3;
  double base_view_dropout = 0;
  std::optional<double> base_l1;
  double base_weight_decay = 0;
  std::optional<int64_t> base_steps;
  int64_t base_batch_size = 100;
  double base_learning_rate = 0.003;
  std::optional<int64_t> base_patience;
  bool base_race = false;

  static void Describe(Declare<MadeBaseOptions>& declare);
};

}  // namespace ort_ed
