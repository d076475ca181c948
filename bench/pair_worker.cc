// Our side of bench/peers.py. Reads commands from standard input, one per line, and answers each with one
// line, as the workers of bench/peers do:
//   threads N       begins with N threads          -> "ok"
//   steps N         works N times                  -> the seconds of the fastest, and the task's number
//   processor N     works N times                  -> the same in processor time, of all threads together
//   check 1         does the task's check          -> its numbers
//   peak N          multiplies in N threads        -> GFLOP/s of the innermost loop on cached operands
//   memory 1        does nothing                   -> MB resident at the peak, and before there was a task
// Start with the task: pair_worker train-mlp [--standard], or pair_worker train-file FILE BATCH [FROZEN ...]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <time.h>

#include "bench/pair_task.h"
#include "trainer/kernels/simd/simd_kernels.h"

namespace ort_ed {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads together.
double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Steps(PairTask& task, int count, double (*clock)()) {
  double best = std::numeric_limits<double>::infinity(), value = 0;
  for (int i = 0; i < count; ++i) {
    const double start = clock();
    value = task.Step();
    best = std::min(best, clock() - start);
  }
  std::printf("%.8f %.6f\n", best, value);
}

void Check(PairTask& task) {
  for (const double value : task.Check()) std::printf("%.6f ", value);
  std::puts("");
}

// The rate of one tile's products with everything in the first-level cache: what no matrix product exceeds.
double TileRate() {
  constexpr int kRows = SimdKernels::kRows, kDepth = 256, kRepeats = 2000;
  const SimdKernels& simd = BestSimdKernels();
  std::vector<float> weights(kDepth * simd.panel, 1e-3f), values(kRows * kDepth, 1e-3f), start(simd.panel),
      out(kRows * simd.panel);
  const float* rows[kRows];
  float* results[kRows];
  for (int r = 0; r < kRows; ++r) {
    rows[r] = &values[r * kDepth];
    results[r] = &out[r * simd.panel];
  }
  const double begin = Seconds();
  for (int i = 0; i < kRepeats; ++i) {
    simd.widest().rows_times_panel[kRows - 1](1, kDepth, rows, 0, weights.data(), kDepth, start.data(),
                                              results);
  }
  return 2e-9 * kRepeats * kRows * simd.panel * kDepth / (Seconds() - begin);
}

void Peak(int threads) {
  std::vector<double> rates(threads);
  std::vector<std::thread> workers;
  for (double& rate : rates) {
    workers.emplace_back([&rate] {
      for (int i = 0; i < 20; ++i) rate = std::max(rate, TileRate());
    });
  }
  double total = 0;
  for (int t = 0; t < threads; ++t) {
    workers[t].join();
    total += rates[t];
  }
  std::printf("%.1f\n", total);
}

double ResidentPeak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::unique_ptr<PairTask> MakeTask(std::vector<std::string> arguments) {
  const bool standard = std::erase(arguments, "--standard") > 0;
  if (arguments.size() >= 3 && arguments[0] == "train-file")
    return MakeTrainFileTask(arguments[1], std::stoll(arguments[2]), {arguments.begin() + 3, arguments.end()},
                             standard);
  const std::map<std::string, std::function<std::unique_ptr<PairTask>()>> tasks = {
      {"train-mlp", [&] { return MakeTrainTask("mlp", standard); }},
      {"train-resnet", [&] { return MakeTrainTask("resnet", standard); }},
      {"pcd-gwg", [&] { return MakePcdTask("gwg", standard); }},
      {"pcd-dula", [&] { return MakePcdTask("dula", standard); }},
      {"score-mlp", [] { return MakeScoreTask("mlp"); }},
      {"score-resnet", [] { return MakeScoreTask("resnet"); }},
      {"gibbs-ising", [] { return MakeGibbsTask("ising"); }},
      {"gibbs-mlp", [] { return MakeGibbsTask("mlp"); }},
      {"ais-mlp", [] { return MakeAisTask(); }},
  };
  const auto found = arguments.empty() ? tasks.end() : tasks.find(arguments[0]);
  if (found != tasks.end()) return found->second();
  std::fputs("usage: pair_worker TASK [--standard], TASK 'train-file FILE BATCH' or one of", stderr);
  for (const auto& [name, make] : tasks) std::fprintf(stderr, " %s", name.c_str());
  std::fputs("\n", stderr);
  return nullptr;
}

int Main(const std::vector<std::string>& arguments) {
  const double before = ResidentPeak();
  const std::unique_ptr<PairTask> task = MakeTask(arguments);
  if (!task) return 2;
  std::string command;
  int count = 0;
  while (std::cin >> command >> count) {
    if (command == "threads") {
      task->SetThreads(count);
      std::puts("ok");
    } else if (command == "steps") {
      Steps(*task, count, Seconds);
    } else if (command == "processor") {
      Steps(*task, count, ProcessorSeconds);
    } else if (command == "check") {
      Check(*task);
    } else if (command == "peak") {
      Peak(count);
    } else if (command == "memory") {
      std::printf("%.1f %.1f\n", ResidentPeak(), before);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main({argv + 1, argv + argc}); }
