#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ort_ed/error.h"
#include "runtime/support/collective.h"

namespace ort_ed {

// How far a job is.
struct Work {
  std::string what;  // "scoring"
  std::string unit;  // what is counted: "rows"
  int64_t done = 0;
  int64_t total = 0;                                         // 0: not known
  std::vector<std::pair<std::string, double>> metrics = {};  // {"loss", 0.31}
};

// What a job tells while it works, and how it is asked to stop. A front end overrides what it shows.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnWork(const Work&) {}
  virtual void OnNotice(const std::string&) {}   // worth knowing
  virtual void OnWarning(const std::string&) {}  // the job's result has it, too
  virtual void OnSaved(const std::string& /*path*/) {}
  virtual bool StopRequested() { return false; }
  // That do the job together, each with an observer of its own.
  virtual Collective& processes() { return Alone(); }
};

// Tells nothing, but stops when another one asks for it.
class QuietObserver : public Observer {
 public:
  explicit QuietObserver(Observer& observer) : observer_(observer) {}
  bool StopRequested() override { return observer_.StopRequested(); }
  Collective& processes() override { return observer_.processes(); }

 protected:
  Observer& observer() { return observer_; }

 private:
  Observer& observer_;
};

// What every job's result has.
struct JobResult {
  bool complete = true;  // false: stopped early, as the observer asked
  std::vector<std::string> warnings;
  double seconds = 0;
};

// Warnings go to the observer at once and stay in the result.
inline void Warn(const std::string& text, JobResult& result, Observer& observer) {
  result.warnings.push_back(text);
  observer.OnWarning(text);
}

// For long computations to call with the work done and the whole of it: tells the observer, and throws
// kInterrupted where it asks to stop.
inline std::function<void(int64_t done, int64_t total)> Watch(Observer& observer, std::string what,
                                                              std::string unit) {
  return [&observer, what = std::move(what), unit = std::move(unit)](int64_t done, int64_t total) {
    if (observer.StopRequested()) throw Error(ErrorCode::kInterrupted, "interrupted; no file was written");
    observer.OnWork({what, unit, done, total});
  };
}

}  // namespace ort_ed
