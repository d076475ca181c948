// Scoring with the library against a bare ONNX Runtime loop over the same rows: same model, threads and
// batch. The paths, each in a process of its own, take turns and the best of all rounds counts, so that a
// busy machine hurts all alike. Then the batch that the library chooses by itself against fixed ones.
//
//   build/release/bench/score_bench [rounds]
//
// Ends with code 1 if the library is below 0.95 of the bare loop, or packed bits below floats.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <onnx/onnx_pb.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/architectures/energy_spec.h"
#include "ort_ed/energy_model.h"
#include "runtime/session.h"
#include "tests/support/binary_rows.h"

namespace ort_ed {
namespace {

constexpr double kSecondsPerPass = 0.1;
constexpr std::chrono::milliseconds kPause{20};  // after which the threads of the last pass sleep
constexpr double kMinRatio = 0.95;
constexpr double kNoise = 0.02;  // two passes of the same code differ by this much on a quiet machine

struct Model {
  std::string name;
  int64_t dimension;
  int64_t rows;  // scored in one go
  std::string bytes;
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }
};

Model MakeModel(const char* name, const EnergySpec& spec, int64_t dimension, int64_t rows) {
  return {name, dimension, rows, BuildModel(spec).SerializeAsString()};
}

std::vector<Model> Models() {
  return {
      MakeModel("mlp 32-256-256-256-1",
                {.architecture = {"mlp", {{"hidden", "256,256,256"}}}, .dimension = 32}, 32, 8192),
      MakeModel("resnet 28x28", {.architecture = "resnet", .image_shape = {28, 28}}, 784, 1024),
  };
}

// What a user of ONNX Runtime writes without this library: tensors made once, one Run a batch.
class BareLoop {
 public:
  BareLoop(const Model& model, int threads, int64_t batch) : dimension_(model.dimension), batch_(batch) {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(threads);
    session_ = Ort::Session(Environment(), model.bytes.data(), model.bytes.size(), options);
  }

  void Score(const std::vector<float>& rows, std::vector<float>& energies) {
    const auto count = std::ssize(energies);
    for (int64_t first = 0; first < count; first += batch_) {
      const int64_t shape[] = {std::min(batch_, count - first), dimension_};
      const Ort::Value x =
          Ort::Value::CreateTensor<float>(memory_, const_cast<float*>(rows.data()) + first * dimension_,
                                          static_cast<size_t>(shape[0] * dimension_), shape, 2);
      Ort::Value energy = Ort::Value::CreateTensor<float>(memory_, energies.data() + first,
                                                          static_cast<size_t>(shape[0]), shape, 1);
      const char* input = "x";
      const char* output = "energy";
      session_.Run(Ort::RunOptions{nullptr}, &input, &x, 1, &output, &energy, 1);
    }
  }

 private:
  Ort::Session session_{nullptr};
  Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  int64_t dimension_;
  int64_t batch_;
};

// How a path scores all rows once. Made in the process that will use it.
using Path = std::function<std::function<void()>()>;

// One path in a process of its own: idle threads of one ONNX Runtime session spin for a while and would take
// the processors of the next. Forked before any session exists in this process.
class Contestant {
 public:
  Contestant(const Path& path, int64_t rows) {
    int request[2], answer[2];
    if (pipe(request) != 0 || pipe(answer) != 0) Fail("pipe");
    process_ = fork();
    if (process_ < 0) Fail("fork");
    if (process_ == 0) {
      close(request[1]);
      close(answer[0]);
      Serve(path(), rows, request[0], answer[1]);
      _exit(0);
    }
    close(request[0]);
    close(answer[1]);
    request_ = request[1];
    answer_ = answer[0];
  }
  Contestant(const Contestant&) = delete;
  ~Contestant() {
    kill(process_, SIGKILL);  // later contestants hold its pipes open, too
    waitpid(process_, nullptr, 0);
    close(request_);
    close(answer_);
  }

  // Rows per second of one pass of about kSecondsPerPass.
  double Rate() {
    std::this_thread::sleep_for(kPause);
    double rate = 0;
    if (write(request_, "", 1) != 1 || read(answer_, &rate, sizeof rate) != sizeof rate) Fail("worker");
    return rate;
  }

 private:
  [[noreturn]] static void Fail(const char* what) {
    std::perror(what);
    std::exit(2);
  }

  static void Serve(const std::function<void()>& score, int64_t rows, int request, int answer) {
    char start;
    while (read(request, &start, 1) == 1) {
      const double rate = MeasureRate(score, rows);
      if (write(answer, &rate, sizeof rate) != sizeof rate) return;
    }
  }

  static double MeasureRate(const std::function<void()>& score, int64_t rows) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double seconds = 0;
    int64_t done = 0;
    while (seconds < kSecondsPerPass) {
      score();
      done += rows;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return static_cast<double>(done) / seconds;
  }

  pid_t process_;
  int request_;
  int answer_;
};

// The best rows/s of each path over `rounds` rounds in which they take turns.
std::vector<double> Compete(const std::vector<Path>& paths, int64_t rows, int rounds) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (const Path& path : paths) contestants.push_back(std::make_unique<Contestant>(path, rows));
  std::vector<double> best(paths.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < paths.size(); ++i) {
      const size_t turn = (i + static_cast<size_t>(round)) % paths.size();
      const double rate = contestants[turn]->Rate();
      if (round > 0) best[turn] = std::max(best[turn], rate);  // round 0 warms up
    }
  }
  return best;
}

// A path of the library: `score` scores with the model that the path's process makes.
template <typename Score>
Path LibraryPath(const Model& model, int threads, int64_t batch, Score score) {
  return [=, &model] {
    auto library = std::make_shared<EnergyModel>(
        EnergyModel::FromMemory(model.span(), {.threads = threads, .batch_rows = batch}));
    return [=] { score(*library); };
  };
}

Path BarePath(const Model& model, int threads, int64_t batch, const BinaryRows& rows,
              std::vector<float>& energies) {
  return [=, &model, &rows, &energies] {
    auto bare = std::make_shared<BareLoop>(model, threads, batch);
    return [=, &rows, &energies] { bare->Score(rows.floats, energies); };
  };
}

bool CompareWithBareLoop(const Model& model, int threads, int64_t batch, int rounds) {
  const BinaryRows rows(model.rows, model.dimension);
  std::vector<float> energies(static_cast<size_t>(model.rows));
  const auto library = [&](auto score) { return LibraryPath(model, threads, batch, score); };
  const auto rates = Compete({BarePath(model, threads, batch, rows, energies),
                              library([&](const EnergyModel& m) { m.Energy(rows.floats, energies); }),
                              library([&](const EnergyModel& m) { m.Energy(rows.bytes, energies); }),
                              library([&](const EnergyModel& m) { m.EnergyPacked(rows.packed, energies); })},
                             model.rows, rounds);
  const bool good = *std::min_element(rates.begin() + 1, rates.end()) >= kMinRatio * rates[0] &&
                    rates[3] >= (1 - kNoise) * rates[1];
  std::printf("%-22s %7d %6ld %12.0f %8.3f %8.3f %8.3f  %s\n", model.name.c_str(), threads,
              static_cast<long>(batch), rates[0], rates[1] / rates[0], rates[2] / rates[0],
              rates[3] / rates[0], good ? "ok" : "TOO SLOW");
  return good;
}

void CompareBatches(const Model& model, int threads, int rounds) {
  const std::vector<int64_t> batches = {0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  const BinaryRows rows(model.rows, model.dimension);
  std::vector<float> energies(static_cast<size_t>(model.rows));
  std::vector<Path> paths;
  for (int64_t batch : batches) {
    paths.push_back(LibraryPath(model, threads, batch,
                                [&](const EnergyModel& m) { m.EnergyPacked(rows.packed, energies); }));
  }
  const auto rates = Compete(paths, model.rows, rounds);
  std::printf("%-22s %7d ", model.name.c_str(), threads);
  for (size_t i = 0; i < batches.size(); ++i)
    std::printf(" %s:%.0f", i == 0 ? "own" : std::to_string(batches[i]).c_str(), rates[i]);
  std::printf("\n");
}

bool Main(int rounds) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto models = Models();
  bool good = true;
  std::printf("rows/s of the bare loop, and the library's share of it\n");
  std::printf("%-22s %7s %6s %12s %8s %8s %8s\n", "model", "threads", "batch", "bare", "float", "uint8",
              "packed");
  for (const Model& model : models)
    for (int threads : {1, 2})
      for (int64_t batch : {128, 1024}) good &= CompareWithBareLoop(model, threads, batch, rounds);
  std::printf("\nrows/s by rows of one call; own: the library's choice\n");
  for (const Model& model : models)
    for (int threads : {1, 2}) CompareBatches(model, threads, std::max(1, rounds / 3));
  return good;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main(argc > 1 ? std::atoi(argv[1]) : 15) ? 0 : 1; }
