// Scoring with the library against a bare ONNX Runtime loop over the same rows: same model, threads and
// batch. The paths take turns in one run and the best of all rounds counts, so that a busy machine hurts all
// alike. Then the batch that the library chooses by itself against fixed ones.
//
//   build/release/bench/score_bench [rounds]
//
// Ends with code 1 if the library is below 0.95 of the bare loop, or packed bits below floats.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "models/energy_spec.h"
#include "ort_ed/energy_model.h"
#include "runtime/session.h"
#include "tests/support/binary_rows.h"

namespace ort_ed {
namespace {

constexpr double kSecondsPerPass = 0.05;
constexpr double kMinRatio = 0.95;
constexpr double kNoise = 0.02;  // two passes of the same code differ by this much on a quiet machine

struct Model {
  std::string name;
  int64_t dimension;
  std::string bytes;
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }
};

Model MakeModel(const char* name, const EnergySpec& spec, int64_t dimension) {
  return {name, dimension, BuildModel(spec).SerializeAsString()};
}

std::vector<Model> Models() {
  return {
      MakeModel("mlp 32-256-256-256-1",
                {.architecture = "mlp", .options = {{"hidden", "256,256,256"}}, .dimension = 32}, 32),
      MakeModel("resnet 28x28", {.architecture = "resnet", .options = {}, .image_shape = {28, 28}}, 784),
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

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The best rows/s of each path over `rounds` rounds in which they take turns.
std::vector<double> Compete(const std::vector<std::function<void()>>& paths, int64_t rows, int rounds) {
  std::vector<double> best(paths.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < paths.size(); ++i) {
      const double seconds = Seconds(paths[(i + static_cast<size_t>(round)) % paths.size()]);
      double& rate = best[(i + static_cast<size_t>(round)) % paths.size()];
      if (round > 0) rate = std::max(rate, static_cast<double>(rows) / seconds);  // round 0 warms up
    }
  }
  return best;
}

int64_t RowsForOnePass(const Model& model, int threads) {
  constexpr int64_t kTrial = 512;
  BareLoop bare(model, threads, 128);
  const BinaryRows rows(kTrial, model.dimension);
  std::vector<float> energies(kTrial);
  bare.Score(rows.floats, energies);
  const double seconds = Seconds([&] { bare.Score(rows.floats, energies); });
  return std::max<int64_t>(kTrial,
                           static_cast<int64_t>(kTrial * kSecondsPerPass / seconds) / kTrial * kTrial);
}

bool CompareWithBareLoop(const Model& model, int threads, int64_t batch, int rounds) {
  const int64_t count = RowsForOnePass(model, threads);
  const BinaryRows rows(count, model.dimension);
  std::vector<float> energies(static_cast<size_t>(count));
  BareLoop bare(model, threads, batch);
  const auto library = EnergyModel::FromMemory(model.span(), {.threads = threads, .batch_rows = batch});
  const auto rates = Compete(
      {[&] { bare.Score(rows.floats, energies); }, [&] { library.Energy(rows.floats, energies); },
       [&] { library.Energy(rows.bytes, energies); }, [&] { library.EnergyPacked(rows.packed, energies); }},
      count, rounds);
  const bool good = *std::min_element(rates.begin() + 1, rates.end()) >= kMinRatio * rates[0] &&
                    rates[3] >= (1 - kNoise) * rates[1];
  std::printf("%-22s %7d %6ld %12.0f %8.3f %8.3f %8.3f  %s\n", model.name.c_str(), threads,
              static_cast<long>(batch), rates[0], rates[1] / rates[0], rates[2] / rates[0],
              rates[3] / rates[0], good ? "ok" : "TOO SLOW");
  return good;
}

void CompareBatches(const Model& model, int threads, int rounds) {
  const std::vector<int64_t> batches = {0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  const int64_t count = std::max<int64_t>(4096, RowsForOnePass(model, threads));
  const BinaryRows rows(count, model.dimension);
  std::vector<float> energies(static_cast<size_t>(count));
  std::vector<EnergyModel> models;
  std::vector<std::function<void()>> paths;
  for (int64_t batch : batches)
    models.push_back(EnergyModel::FromMemory(model.span(), {.threads = threads, .batch_rows = batch}));
  for (const EnergyModel& candidate : models)
    paths.emplace_back([&] { candidate.EnergyPacked(rows.packed, energies); });
  const auto rates = Compete(paths, count, rounds);
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
