#pragma once

#include <functional>
#include <string>

#include "runtime/support/collective.h"

namespace ort_ed {

// The processes that a launcher has started. Made by a module of its own, libort_ed_mpi.so, which is the only
// part that links MPI and is loaded only under a launcher.
class LaunchedProcesses : public Collective {
 public:
  virtual const std::string& host(int rank) const = 0;
  // Among the processes of this host.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;

  // From now on a thread of its own looks after the others: `lost` hears of the first that has died, or has
  // not answered for kSilence seconds.
  virtual void Watch(std::function<void(int rank, const char* what)> lost) = 0;
  // A process of this host that is no longer there; -1: all are.
  virtual int FindDead() const = 0;

  // All come here in the end; nothing can be asked afterwards.
  virtual void Finish() = 0;
  // Ends all processes at once. The others hear that it is no death before they can see one.
  virtual void Abort(int exit_code) = 0;
  // Whether any process has called it.
  virtual bool IsEnding() const = 0;

  static constexpr double kSilence = 10;
};

// What the module exports.
inline constexpr char kStartMpi[] = "OrtEdStartMpi";
using StartMpi = LaunchedProcesses* (*)();

}  // namespace ort_ed
