#include "tools/cli/command.h"

namespace ort_ed {

extern const Command kDevicesCommand;
extern const Command kScoreCommand;

const std::vector<const Command*>& Commands() {
  static const std::vector<const Command*> commands = {
      &kScoreCommand,
      &kDevicesCommand,
  };
  return commands;
}

}  // namespace ort_ed
