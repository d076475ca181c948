#pragma once

#include <string>
#include <vector>

#include "runtime/support/collective.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Where processes that do one job together are not given the same, one of them would wait for the others for
// ever, or the result would be of no use. Throws kInvalidArgument, naming rank and host of the first that has
// another value than the first process.
void RequireAgreement(Collective& processes, const std::string& what, const std::string& value);

// The same of files, by their contents; an empty path is no file.
void RequireSameFiles(Collective& processes, const std::vector<std::string>& paths);

// The text of the first process, for all.
std::string BroadcastText(Collective& processes, std::string mine);

// Whether any process is asked to stop. All ask at the same places.
inline bool StopTogether(Observer& observer) { return observer.processes().Any(observer.StopRequested()); }

}  // namespace ort_ed
