// Readers of rows: .npy, packed bits, IDX, text, gzip; and that of numbers. The first byte chooses the
// options.
#include <vector>

#include "ort_ed/error.h"
#include "runtime/data/npy.h"
#include "runtime/data/row_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  if (size == 0) return 0;
  RowOptions options;
  options.binarise = static_cast<Binarise>(bytes[0] & 3);
  options.columns = bytes[0] >> 4;
  options.allow_missing = (bytes[0] & 4) != 0 && options.binarise == Binarise::kStrict;
  const MemoryFile file(bytes + 1, size - 1);
  try {
    if ((bytes[0] & 8) != 0) {
      ReadNpy(file.path());
      return 0;
    }
    const auto reader = OpenRows(file.path(), options);
    std::vector<uint8_t> rows(static_cast<size_t>(3 * reader->columns()));
    for (int blocks = 0; blocks < 100 && reader->Read(rows) > 0; ++blocks) {
    }
  } catch (const Error&) {
  }
  return 0;
}
