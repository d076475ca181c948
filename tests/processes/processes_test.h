#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/cli/train_command.h"

namespace ort_ed {

// Commands of several processes on this machine. Skipped where there is no MPI.
class ProcessesTest : public TrainCommand {
 protected:
  void SetUp() override {
    if (std::string(ORT_ED_MPIRUN).empty()) GTEST_SKIP() << "no MPI (tools/setup.sh --mpi)";
    // Containers and tests run as root, and with more processes than cores.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 1);
  }

  static std::vector<std::string> Launcher(int processes) {
    return {ORT_ED_MPIRUN, "-n", std::to_string(processes)};
  }

  static CommandResult Launch(int processes, const std::vector<std::string>& arguments) {
    return CommandProcess(arguments, "", Launcher(processes)).Wait();
  }

  // One process without a launcher where there is one.
  static CommandResult RunOn(int processes, const std::vector<std::string>& arguments) {
    const CommandResult result = processes == 1 ? RunOrtEd(arguments) : Launch(processes, arguments);
    EXPECT_EQ(result.exit_code, 0) << processes << " processes: " << result.err;
    return result;
  }
};

}  // namespace ort_ed
