// Writes the model that the C and install tests score: U(x) = x0 + 2 x1 + ... + 12 x11, log Z and gradient
// included.
#include <cstdio>
#include <fstream>

#include "ort_ed/metadata.h"
#include "tests/support/onnx_models.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  using namespace ort_ed;
  constexpr int64_t kDimension = 12;
  std::string model = WithLinearGradient(LinearModel(kDimension), kDimension);
  model = WithMetadata(model, metadata_key::kArchitecture, "linear");
  model = WithMetadata(model, metadata_key::kLogZ, "1.5");
  model = WithMetadata(model, metadata_key::kLogZError, "0.25");
  std::ofstream file(argv[1], std::ios::binary);
  return file.write(model.data(), std::ssize(model)) && file.flush() ? 0 : 1;
}
