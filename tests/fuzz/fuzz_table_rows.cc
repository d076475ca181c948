// Rows of a table by variables of every kind, encoded and back. The first byte chooses the options.
#include <cstdint>
#include <vector>

#include "ort_ed/error.h"
#include "runtime/data/table/table_rows.h"
#include "tests/fuzz/memory_file.h"

namespace {

const ort_ed::Variables& AllKinds() {
  static const ort_ed::Variables variables = ort_ed::ParseVariables(
      R"([{"name":"a"},{"name":"b","labels":["no","yes"]},{"name":"c","kind":"nominal","labels":["x","y"],"other":true},)"
      R"({"name":"d","kind":"ordered","values":"number","edges":[0,5,20.5],"missing":true,"format":"1.5%"},)"
      R"({"name":"e","kind":"ordered","values":"date","edges":[0,40000000,80000000]},)"
      R"({"name":"f","kind":"cyclic","values":"clock","edges":[0,21600,43200]},)"
      R"({"name":"g","kind":"ordered","values":"integer","edges":[1,2,3]},)"
      R"({"name":"h","kind":"ordered","values":"time","edges":[0,40000000]}])");
  return variables;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  if (size == 0) return 0;
  const TableRowOptions options{.allow_missing = (bytes[0] & 1) != 0,
                                .omit_missing = (bytes[0] & 2) != 0,
                                .id = (bytes[0] & 4) != 0 ? "id" : "",
                                .keep_cells = (bytes[0] & 8) != 0};
  const MemoryFile file(bytes + 1, size - 1);
  try {
    const auto reader = OpenTableRows(InputStream(file.path()), AllKinds(), options);
    std::vector<uint8_t> rows(static_cast<size_t>(3 * reader->columns()));
    for (int blocks = 0; blocks < 100 && reader->Read(rows) > 0; ++blocks) {
    }
  } catch (const Error&) {
  }
  return 0;
}
