#pragma once

#include <cstdint>
#include <string>

#include "ort_ed/options.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Which synthetic set, and the files to write; a path that is empty is not written.
struct DrawDataOptions {
  Choice name;
  int64_t rows = 100000;
  uint64_t seed = 1;
  std::string output, planar, couplings;
  int threads = 0;

  static void Describe(Declare<DrawDataOptions>& declare);
};

struct DrawDataResult : JobResult {
  int64_t rows = 0;
  int64_t columns = 0;
  std::string row;  // "32 bits; entropy 7.1234 nats", "100 spins"
};

// Draws the rows into files in constant memory. The files appear when all is drawn, or not at all. Throws
// OptionError, kIo and kInterrupted.
DrawDataResult DrawData(const DrawDataOptions& options, Observer& observer);

}  // namespace ort_ed
