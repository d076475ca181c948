#include "tools/cli/terminal.h"

#include <spdlog/spdlog.h>

#include "tools/cli/interrupt.h"
#include "tools/cli/launch/processes.h"

namespace ort_ed {

void Terminal::OnWork(const Work& work) {
  const bool goes_on = progress_ && what_ == work.what && total_ == work.total && done_ <= work.done;
  done_ = work.done;
  if (!goes_on) {
    ClearLine();
    what_ = work.what;
    total_ = work.total;
    progress_.emplace(work.what, work.unit, work.total);
  }
  std::string details;
  for (const auto& [name, value] : work.metrics)
    details += fmt::format("{}{} {:.4f}", details.empty() ? "" : ", ", name, value);
  progress_->Update(work.done, details);
  if (work.done == work.total) ClearLine();
}

void Terminal::OnNotice(const std::string& text) {
  if (progress_) progress_->Finish();
  spdlog::info("{}", text);
}

void Terminal::OnWarning(const std::string& text) {
  if (progress_) progress_->Finish();
  spdlog::warn("{}", text);
}

void Terminal::OnSaved(const std::string&) {}

bool Terminal::StopRequested() { return Interrupted(); }

Collective& Terminal::processes() { return Processes(); }

void Terminal::ClearLine() { progress_.reset(); }

}  // namespace ort_ed
