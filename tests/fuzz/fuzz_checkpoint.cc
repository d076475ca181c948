// Checkpoints of trainings: what stands between the first line and the checksum, which is put right.
#include <cstdint>
#include <string>

#include <zlib.h>

#include "ort_ed/error.h"
#include "tests/fuzz/memory_file.h"
#include "tools/jobs/train/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  std::string text = "ORT-ED checkpoint\n" + std::string(bytes, bytes + size);
  const auto sum =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  text.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  const MemoryFile file(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  try {
    const Checkpoint checkpoint = ReadCheckpoint(file.path());
    for (const StateTensor& tensor : checkpoint.state) tensor.ElementCount();
    checkpoint.SelectTensors("negatives");
  } catch (const Error&) {
  }
  return 0;
}
