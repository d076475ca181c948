#include "trainer/learner/learner_options.h"

#include <fnmatch.h>

#include "runtime/support/text.h"

namespace ort_ed {

std::vector<bool> Select(const std::vector<std::string>& names, const std::vector<std::string>& patterns,
                         const std::string& key) {
  std::vector<bool> selected(names.size());
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (fnmatch(pattern.c_str(), names[i].c_str(), 0) != 0) continue;
      selected[i] = true;
      found = true;
    }
    if (!found)
      throw OptionError(key,
                        "has the pattern '" + pattern +
                            "', which no parameter of the model matches; there are " + Join(names, ", "),
                        OptionError::Problem::kUnknownName);
  }
  return selected;
}

}  // namespace ort_ed
