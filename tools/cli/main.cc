#include "tools/cli/main.h"

#include <onnxruntime_c_api.h>

// The linker asks for it here, before it sees a certain release of the library; see tools/CMakeLists.txt.
[[gnu::used]] static const auto kAnyOnnxRuntime = &OrtGetApiBase;

int main(int argc, char** argv) { return ort_ed::Main({argv + 1, argv + argc}); }
