#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/graph/graph_builder.h"
#include "trainer/objective/objective.h"

namespace ort_ed {

struct LossModelOptions {
  Choice objective;
  int64_t negatives = 1;
  bool weighted = false;
  bool column = false;  // energies as [rows, 1]
};

// An objective alone: from `energies`, `group_weight` and, if weighted, `log_weights` to `losses` and the
// weights `c` of the energies.
inline onnx::ModelProto BuildLossModel(const LossModelOptions& options) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("loss");
  GraphBuilder builder(model);
  const std::vector<int64_t> shape = options.column ? std::vector<int64_t>{-1, 1} : std::vector<int64_t>{-1};
  const Value energies = builder.Input("energies", shape);
  const Value weights = options.weighted
                            ? builder.Input("log_weights", std::vector<int64_t>{-1, 1 + options.negatives})
                            : Value{&builder, ""};
  const Value group_weight = builder.Input("group_weight", std::vector<int64_t>{1});
  const ObjectiveNodes loss =
      MakeObjective(options.objective)->Emit({energies, options.negatives, weights, group_weight});
  builder.Output(builder.Named(loss.losses, "losses"), std::vector<int64_t>{3});
  builder.Output(builder.Named(loss.energy_weights, "c"), shape);
  return model;
}

}  // namespace ort_ed
