#include "tools/cli/command.h"

namespace ort_ed {

extern const Command kCheckCommand;
extern const Command kDataCommand;
extern const Command kDevicesCommand;
extern const Command kExportCommand;
extern const Command kInspectCommand;
extern const Command kNewCommand;
extern const Command kPlotCommand;
extern const Command kScoreCommand;
extern const Command kTrainCommand;

const std::vector<const Command*>& Commands() {
  static const std::vector<const Command*> commands = {
      &kNewCommand,    &kInspectCommand, &kCheckCommand, &kDataCommand,    &kTrainCommand,
      &kExportCommand, &kScoreCommand,   &kPlotCommand,  &kDevicesCommand,
  };
  return commands;
}

}  // namespace ort_ed
