#pragma once

#include <string>

#include "runtime/support/collective.h"

namespace ort_ed {

// The processes that a launcher (mpirun, srun) has started together with this one.
//
// Under a launcher: joins the others, for those commands that several processes can do; the first process
// alone talks and writes files. Throws UsageError for other commands and where the module over MPI is
// missing.
void JoinProcesses(const std::string& command, const std::string& words);

// The number of this process among those of its host: what `--device cuda:local-rank` stands for.
int LocalRank();

// Those of the job; this one alone where there is no launcher.
Collective& Processes();

// The command that goes on where the job ends early, told with whatever ends it. Empty: there is none.
void SetResumption(const std::string& command);

// The message of a failure: which process it was, where it may be the only one (`of_this`), and the command
// that goes on.
std::string DescribeFailure(const std::string& message, bool of_this);

// At the end of a command. Where it failed, all processes end: the first one's message is told, or that of
// the process that failed alone, with its rank and host.
void LeaveProcesses(int exit_code);

}  // namespace ort_ed
