// What a training takes at most, against twice what it cannot do without: parameters, the optimiser's state
// and the activations of one batch.

#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/support/large_buffers.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 32;

struct Size {
  int64_t hidden, batch_size, negatives;
};

int64_t Parameters(const Size& s) {
  return kDimension * s.hidden + s.hidden + s.hidden * s.hidden + s.hidden + s.hidden + 1;
}

// Each layer's values before and after the activation, and its input.
int64_t Activations(const Size& s) {
  return s.batch_size * (1 + s.negatives) * (kDimension + 4 * s.hidden + 1);
}

int64_t Needed(const Size& s) {
  constexpr int64_t kStateVectors = 4;  // parameters, two moments, average
  return (kStateVectors * Parameters(s) + Activations(s)) * static_cast<int64_t>(sizeof(float));
}

int64_t PeakOfThisProcess() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

// In a process of its own, from nothing to the model's file.
int64_t PeakOfTraining(const Size& size) {
  const TempDir dir;
  const std::string data = dir.File("rows.csv"), peak = dir.File("peak");
  std::ofstream rows(data);
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < kDimension; ++k) rows << (k == 0 ? "" : ",") << (i * i + k) / 3 % 2;
    rows << "\n";
  }
  rows.close();
  const pid_t child = fork();
  if (child == 0) {
    ReturnLargeBuffers();  // as the command does
    TrainOptions options;
    options.data.data = data;
    options.network.model.options["hidden"] = std::vector<int64_t>{size.hidden, size.hidden};
    options.batch.batch_size = size.batch_size;
    options.contrast.method = "bernoulli";
    options.contrast.negatives = size.negatives;
    options.run.steps = 4;
    options.run.threads = 2;
    Observer nobody;
    const bool complete = TrainInFolder(options, dir.File("run"), ExistingRun::kRefuse, nobody).complete;
    std::ofstream(peak) << PeakOfThisProcess() << std::flush;
    _exit(complete ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  int64_t bytes = 0;
  std::ifstream(peak) >> bytes;
  return bytes;
}

class TrainMemory : public testing::TestWithParam<Size> {};

TEST_P(TrainMemory, IsAtMostTwiceWhatIsNeeded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need memory of their own";
#endif
  constexpr Size kTiny = {8, 2, 1};
  const int64_t growth = PeakOfTraining(GetParam()) - PeakOfTraining(kTiny);
  const int64_t needed = Needed(GetParam());
  RecordProperty("growth", std::to_string(growth));
  EXPECT_LT(growth, 2 * needed) << growth / 1e6 << " MB, needed are " << needed / 1e6;
  EXPECT_GT(growth, needed / 2) << "the measurement is wrong";
}

INSTANTIATE_TEST_SUITE_P(Of, TrainMemory, testing::Values(Size{256, 512, 32}, Size{2048, 16, 4}),
                         [](const auto& test) { return test.index == 0 ? "Activations" : "Parameters"; });

}  // namespace
}  // namespace ort_ed
