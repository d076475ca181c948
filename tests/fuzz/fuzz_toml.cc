// Files of settings.
#include <cstdint>

#include "ort_ed/error.h"
#include "tools/jobs/settings/toml_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  try {
    ort_ed::ParseToml(std::string(bytes, bytes + size), "fuzz.toml");
  } catch (const ort_ed::Error&) {
  }
  return 0;
}
