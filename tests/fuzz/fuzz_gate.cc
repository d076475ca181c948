// The gate of models: any bytes end in an answer.
#include <cstdint>

#include "ort_ed/error.h"
#include "runtime/support/gate/model_gate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  try {
    ort_ed::AdmitModel(std::as_bytes(std::span(bytes, size)), "", "fuzz");
  } catch (const ort_ed::Error&) {
  }
  return 0;
}
