// How fast rows are read: bytes of the file a second (the page cache is warm), and rows a second. `memory`
// copies as many bytes within memory, the ceiling; `bytes` reads the file without looking at it.
//
//   build/release/bench/row_reader_bench

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <benchmark/benchmark.h>
#include <zlib.h>

#include "ort_ed/random.h"
#include "runtime/data/input_stream.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/row_writer.h"

namespace ort_ed {
namespace {

constexpr int64_t kRows = 100000;
constexpr int64_t kColumns = 784;
constexpr int64_t kBlockRows = 256;

std::filesystem::path Folder() {
  static const std::filesystem::path folder = [] {
    const auto path = std::filesystem::temp_directory_path() / "ort_ed_row_reader_bench";
    std::filesystem::create_directories(path);
    return path;
  }();
  return folder;
}

std::vector<uint8_t> Bits() {
  std::vector<uint8_t> bits(kRows * kColumns);
  RandomStream random(1, 1, 0, 0);
  for (uint8_t& bit : bits) bit = random.Bernoulli(0.13f);
  return bits;
}

void GzipFile(const std::string& from, const std::string& to) {
  std::stringstream bytes;
  bytes << std::ifstream(from, std::ios::binary).rdbuf();
  const gzFile file = gzopen(to.c_str(), "wb6");
  gzwrite(file, bytes.str().data(), static_cast<unsigned>(bytes.str().size()));
  gzclose(file);
}

// Files are made once and removed at the end of the program.
const std::string& File(const std::string& name) {
  static std::map<std::string, std::string> files;
  std::string& path = files[name];
  if (!path.empty()) return path;
  path = Folder() / name;
  if (name.ends_with(".gz")) {
    GzipFile(File(name.substr(0, name.size() - 3)), path);
  } else if (name.starts_with("float")) {
    const std::vector<uint8_t> bits = Bits();
    const auto writer = CreateFloatFile(path, {.columns = kColumns});
    writer->Write(std::vector<float>(bits.begin(), bits.end()));
    writer->Commit();
  } else {
    std::vector<uint8_t> values = Bits();
    RandomStream random(2, 1, 0, 0);
    if (name.starts_with("grey"))
      for (uint8_t& value : values) value *= static_cast<uint8_t>(random.Below(256));
    const auto writer = CreateBitFile(path, {.columns = kColumns});
    writer->Write(values);
    writer->Commit();
  }
  return path;
}

void Report(benchmark::State& state, const std::string& path) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(std::filesystem::file_size(path)));
  state.SetItemsProcessed(state.iterations() * kRows);
}

void ReadFile(benchmark::State& state, const std::string& name, Binarise binarise) {
  const std::string& path = File(name);
  std::vector<uint8_t> block(kBlockRows * kColumns);
  for ([[maybe_unused]] auto _ : state) {
    const auto reader = OpenRows(path, {.binarise = binarise, .columns = kColumns});
    while (reader->Read(block) > 0) benchmark::DoNotOptimize(block.data());
  }
  Report(state, path);
}

void ReadBytesOnly(benchmark::State& state) {
  const std::string& path = File("bits8.npy");
  std::vector<uint8_t> block(kBlockRows * kColumns);
  for ([[maybe_unused]] auto _ : state) {
    InputStream stream(path);
    while (stream.Read(block.data(), block.size()) > 0) benchmark::DoNotOptimize(block.data());
  }
  Report(state, path);
}

void CopyMemory(benchmark::State& state) {
  const std::vector<uint8_t> bits = Bits();
  std::vector<uint8_t> copy(bits.size());
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(copy.data(), bits.data(), bits.size());
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bits.size()));
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK(CopyMemory)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadBytesOnly)->Unit(benchmark::kMillisecond);
#define ORT_ED_READ(label, name, binarise) \
  BENCHMARK_CAPTURE(ReadFile, label, name, Binarise::binarise)->Unit(benchmark::kMillisecond)
ORT_ED_READ(npy_uint8, "bits8.npy", kStrict);
ORT_ED_READ(npy_float32, "float.npy", kStrict);
ORT_ED_READ(npy_packed, "x.bits.npy", kStrict);
ORT_ED_READ(npy_packed_gzip, "x.bits.npy.gz", kStrict);
ORT_ED_READ(csv_bits, "bits.csv", kStrict);
ORT_ED_READ(csv_bits_gzip, "bits.csv.gz", kStrict);
ORT_ED_READ(csv_grey, "grey.csv", kGrey);
ORT_ED_READ(npy_grey_threshold, "grey.npy", kThreshold);
ORT_ED_READ(npy_grey_stochastic, "grey.npy", kStochastic);

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(ort_ed::Folder());
}
