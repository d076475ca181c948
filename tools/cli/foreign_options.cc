#include "tools/cli/foreign_options.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "tools/cli/command.h"

namespace ort_ed {

void RefuseForeignOptions(const argparse::ArgumentParser& arguments, const std::vector<std::string>& options,
                          const std::vector<std::string>& own, const std::string& whom) {
  for (const std::string& option : options)
    if (arguments.is_used(option) && std::ranges::find(own, option) == own.end())
      throw UsageError(fmt::format("{} means nothing to {}; leave it out", option, whom));
}

}  // namespace ort_ed
