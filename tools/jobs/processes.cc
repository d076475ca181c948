#include "tools/jobs/processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ort_ed/error.h"
#include "runtime/support/files/read_file.h"
#include "tools/jobs/digest.h"

namespace ort_ed {
namespace {

constexpr char kEnd = '\0';  // of the host's name

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace

void RequireAgreement(Collective& processes, const std::string& what, const std::string& value) {
  if (processes.size() == 1) return;
  const std::vector<std::string> all = processes.Gather(HostName() + kEnd + value);
  const auto value_of = [&](size_t rank) { return all[rank].substr(all[rank].find(kEnd) + 1); };
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (value_of(rank) != value_of(0))
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("the processes do not have the same {}: process {} on {} has {}, process 0 on {} "
                      "has {}; all of them need the same program, options, files and kind of processor",
                      what, rank, all[rank].substr(0, all[rank].find(kEnd)), value_of(rank),
                      all[0].substr(0, all[0].find(kEnd)), value_of(0)));
}

void RequireSameFiles(Collective& processes, const std::vector<std::string>& paths) {
  if (processes.size() == 1) return;
  for (const std::string& path : paths)
    if (!path.empty()) RequireAgreement(processes, "'" + path + "'", ComputeDigest(ReadFile(path, "file")));
}

std::string BroadcastText(Collective& processes, std::string mine) {
  mine.resize(processes.FromFirst(mine.size()));
  processes.Broadcast(std::as_writable_bytes(std::span(mine)), 0);
  return mine;
}

}  // namespace ort_ed
