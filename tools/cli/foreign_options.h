#pragma once

#include <string>
#include <vector>

#include <argparse/argparse.hpp>

namespace ort_ed {

// Refuses (UsageError) those of `options` that were given but are not among `own`: nobody should wait for the
// effect of an option that has none. `whom` is what they mean nothing to, e.g. "`ort-ed plot samples`".
void RefuseForeignOptions(const argparse::ArgumentParser& arguments, const std::vector<std::string>& options,
                          const std::vector<std::string>& own, const std::string& whom);

}  // namespace ort_ed
