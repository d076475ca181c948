#pragma once

#include "tools/jobs/train/train.h"

namespace ort_ed {

// Of small networks on small laws, which learn them in a second or two.
inline TrainOptions Options(const Choice& model, const Choice& method, const Choice& base) {
  TrainOptions options;
  options.network.model = model;
  options.network.base = base;
  options.contrast.method = method;
  options.optimizer.learning_rate = 0.01;
  options.optimizer.ema = 0.99;
  options.batch.batch_size = 128;
  options.run.steps = 800;
  options.run.threads = 1;
  return options;
}

}  // namespace ort_ed
