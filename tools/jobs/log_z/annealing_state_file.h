#pragma once

#include <map>
#include <string>
#include <vector>

#include "ort_ed/log_z.h"

namespace ort_ed {

// Everything the result of a run depends on, in words: {"seed", "3"}, {"model", digest}.
using StatePlan = std::map<std::string, std::string>;

// The file that keeps the states of the annealings of one run, its phases, with the run's plan. A file that
// is not of this run is never touched.
class AnnealingStateFile {
 public:
  // Reads the file if there is one. Throws kBadData if it is damaged, something else, of another version or
  // of another plan (the message tells what differs), and kIo if it could not be written.
  AnnealingStateFile(std::string path, StatePlan plan);

  const std::string& path() const { return path_; }
  // The stored state of a phase; null: none.
  const AnnealingState* Find(const std::string& phase) const;
  // How far the phases in it are, as text.
  std::string Summary() const;
  // Writes the file, the states of other phases included. Throws kIo, also where another program has put a
  // file there.
  void Store(const std::string& phase, AnnealingState state);

 private:
  void Load();

  std::string path_;
  StatePlan plan_;
  bool ours_ = false;  // the file on the disk
  std::map<std::string, AnnealingState> phases_;
};

// Removes the state of a run that has its result. What is no such state, put there in the meantime, stays.
void RemoveState(const std::string& path);

}  // namespace ort_ed
