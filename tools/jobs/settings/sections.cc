#include "tools/jobs/settings/sections.h"

#include <algorithm>

namespace ort_ed {

std::vector<FileOption> FileOptions(const Schema& schema) {
  std::vector<FileOption> options;
  for (const VisibleOption& visible : VisibleOptions(schema)) {
    FileOption option{visible, visible.option->section, ""};
    if (!visible.choice.empty()) {
      const auto choice =
          std::ranges::find(options, visible.choice, [](const FileOption& each) { return each.visible.key; });
      option.section = choice->section;
      option.table = choice->visible.option->table.empty() ? choice->table : choice->visible.option->table;
    }
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace ort_ed
