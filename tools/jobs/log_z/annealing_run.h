#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ort_ed/log_z.h"
#include "tools/jobs/log_z/annealing_state_file.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// What the annealings of an estimate depend on.
struct AnnealingPlan {
  std::string estimator;     // "ais"
  std::string model_digest;  // for the state file
  EnergyPath path;
  AnnealingOptions options;
  std::vector<float> starts = {};  // that the caller gave

  // All of it, by the names that a message gives it.
  StatePlan Describe() const;
};

// The annealings of an estimate, one after the other: its phases. With a state file (empty: none) they
// continue where the file says; the file is written every minute, when the observer asks to stop, which
// throws kInterrupted, and at the end of each phase. Whoever told the result removes it.
class AnnealingRun {
 public:
  // Throws kBadData where the file is something else or of another plan, and kIo where it cannot be written.
  AnnealingRun(const AnnealingPlan& plan, const std::string& state_file, Observer& observer);

  Annealing Forward(const std::string& phase);
  Annealing Reverse(const std::string& phase, std::vector<float> starts);
  // log Z by a reverse annealing, the phase `phase`, from the ends of forward chains of its own, the phase
  // "drawing samples", each of which counts by its weight. It shares no random number with Forward().
  LogZEstimate EstimateInReverse(const std::string& phase);

  bool has_state() const { return file_.has_value(); }

 private:
  Annealing Run(const std::string& phase, Annealing annealing);
  void Store(const std::string& phase, const Annealing& annealing);

  const AnnealingPlan& plan_;
  Observer& observer_;
  std::optional<AnnealingStateFile> file_;
};

}  // namespace ort_ed
