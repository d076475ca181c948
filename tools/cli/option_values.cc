#include "tools/cli/option_values.h"

#include "models/architectures/energy_spec.h"

namespace ort_ed {

std::vector<int64_t> ImageShapeOf(const argparse::ArgumentParser& arguments, const char* name) {
  return BlameTheOptions([&] { return ParseImageShape(arguments.get(name)); });
}

}  // namespace ort_ed
