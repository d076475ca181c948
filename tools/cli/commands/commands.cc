// The table of commands, and nothing else.

#include "tools/cli/command.h"

namespace ort_ed {

extern const Command kNewCommand;
extern const Command kInspectCommand;
extern const Command kCheckCommand;
extern const Command kDataCommand;
extern const Command kTrainCommand;
extern const Command kExportCommand;
extern const Command kScoreCommand;
extern const Command kExplainCommand;
extern const Command kSampleCommand;
extern const Command kImputeCommand;
extern const Command kLogZCommand;
extern const Command kEvalCommand;
extern const Command kCompareCommand;
extern const Command kReportCommand;
extern const Command kPlotCommand;
extern const Command kDevicesCommand;

const std::vector<const Command*>& Commands() {
  // clang-format off
  static const std::vector<const Command*> commands = {
      &kNewCommand,
      &kInspectCommand,
      &kCheckCommand,
      &kDataCommand,
      &kTrainCommand,
      &kExportCommand,
      &kScoreCommand,
      &kExplainCommand,
      &kSampleCommand,
      &kImputeCommand,
      &kLogZCommand,
      &kEvalCommand,
      &kCompareCommand,
      &kReportCommand,
      &kPlotCommand,
      &kDevicesCommand,
  };
  // clang-format on
  return commands;
}

}  // namespace ort_ed
