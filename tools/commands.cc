#include "tools/command.h"

namespace ort_ed {

extern const Command kDataCommand;
extern const Command kDevicesCommand;
extern const Command kEvalCommand;
extern const Command kInspectCommand;
extern const Command kLogZCommand;
extern const Command kNewCommand;
extern const Command kPlotCommand;
extern const Command kSampleCommand;
extern const Command kScoreCommand;

const std::vector<const Command*>& Commands() {
  static const std::vector<const Command*> commands = {
      &kNewCommand,  &kInspectCommand, &kDataCommand, &kSampleCommand,  &kScoreCommand,
      &kLogZCommand, &kEvalCommand,    &kPlotCommand, &kDevicesCommand,
  };
  return commands;
}

}  // namespace ort_ed
