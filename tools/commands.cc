#include "tools/command.h"

namespace ort_ed {

extern const Command kDataCommand;

const std::vector<const Command*>& Commands() {
  static const std::vector<const Command*> commands = {
      &kDataCommand,
  };
  return commands;
}

}  // namespace ort_ed
