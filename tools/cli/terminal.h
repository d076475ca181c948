#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/progress.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Shows on stderr what a job tells, and asks it to stop when the user does (SIGINT, SIGTERM).
class Terminal : public Observer {
 public:
  void OnWork(const Work& work) override;
  void OnNotice(const std::string& text) override;
  void OnWarning(const std::string& text) override;
  void OnSaved(const std::string& path) override;
  bool StopRequested() override;
  Collective& processes() override;

 private:
  void ClearLine();

  std::string what_;              // of the bar that is shown
  int64_t total_ = 0, done_ = 0;  // of its work
  std::optional<Progress> progress_;
};

}  // namespace ort_ed
