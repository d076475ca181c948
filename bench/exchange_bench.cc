// What it costs to exchange bytes between processes: alpha + bytes x beta, from the shortest message and the
// longest.
//
//   cmake --preset release && cmake --build --preset release --target exchange_bench
//   mpirun -np 2 build/release/bench/exchange_bench

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <dlfcn.h>

#include "tools/mpi/mpi_module.h"

namespace ort_ed {
namespace {

// Of several in a row, since one may have its message there already; the fastest of some: what other programs
// do meanwhile is not what an exchange costs.
double Measure(LaunchedProcesses& processes, size_t bytes) {
  const auto size = static_cast<size_t>(processes.size());
  std::vector<std::byte> sent(bytes), received(bytes * size);
  const std::vector<std::span<const std::byte>> outgoing(size, sent);
  std::vector<std::span<std::byte>> incoming;
  for (size_t rank = 0; rank < size; ++rank)
    incoming.push_back(std::span(received).subspan(rank * bytes, bytes));
  double fastest = 1e9;
  constexpr int kInARow = 10;
  for (int round = 0; round < 50; ++round) {
    processes.Barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kInARow; ++i) processes.Exchange(outgoing, incoming);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, seconds.count() / kInARow);
  }
  return fastest;
}

int Run() {
  void* const module = dlopen(ORT_ED_MPI_MODULE, RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto* const processes = reinterpret_cast<StartMpi>(dlsym(module, kStartMpi))();
  double alpha = 0, seconds = 0;
  for (const size_t bytes : {size_t{4}, size_t{4} << 10, size_t{256} << 10, size_t{4} << 20}) {
    seconds = Measure(*processes, bytes);
    if (alpha == 0) alpha = seconds;
    if (processes->rank() == 0)
      std::printf("%9zu bytes to each other process: %9.1f us\n", bytes, 1e6 * seconds);
  }
  const double beta = (seconds - alpha) / (4 << 20) / (processes->size() - 1);
  if (processes->rank() == 0) std::printf("alpha %.1f us, 1 / beta %.2f GB/s\n", 1e6 * alpha, 1e-9 / beta);
  processes->Finish();
  return 0;
}

}  // namespace
}  // namespace ort_ed

int main() { return ort_ed::Run(); }
