// Tables of text: quotes, separators, lines.
#include "ort_ed/error.h"
#include "runtime/data/table/table_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  const MemoryFile file(bytes, size);
  try {
    TableReader reader{InputStream(file.path())};
    for (int rows = 0; rows < 1000 && reader.Next(); ++rows) {
    }
  } catch (const Error&) {
  }
  return 0;
}
