#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tools/jobs/annealing_run.h"

namespace ort_ed {

// Of the model in a file, with its external data: another digest, another model.
std::string ModelDigest(const std::string& path);

// The file that keeps the state of a long annealing, with everything its result depends on: the contents of
// the model, base, starts and options. An empty path: no file, nothing is ever stored.
class AnnealingStateFile {
 public:
  AnnealingStateFile(std::string path, const AnnealingPlan& plan);

  bool Exists() const;
  // Throws kBadData if the file is damaged or of another plan; the message tells what differs.
  AnnealingState Load() const;
  void Store(const AnnealingState& state) const;

 private:
  std::string path_;
  nlohmann::json plan_;
};

}  // namespace ort_ed
