#include "tools/command.h"

namespace ort_ed {

const std::vector<const Command*>& Commands() {
  static const std::vector<const Command*> commands = {};
  return commands;
}

}  // namespace ort_ed
