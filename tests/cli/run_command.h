#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace ort_ed {

struct CommandResult {
  int exit_code = 0;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// A running `ort-ed`, the one that was just built.
class CommandProcess {
 public:
  // `launcher`: the words in front of the command, e.g. of mpirun.
  explicit CommandProcess(const std::vector<std::string>& arguments, const std::string& input = "",
                          const std::vector<std::string>& launcher = {});
  ~CommandProcess();  // kills it if it still runs
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  void Signal(int signal);
  bool Running();
  // Until it is ready for signals.
  void WaitUntilItListens();
  std::string Output() const;  // so far
  CommandResult Wait();

 private:
  pid_t process_ = -1;
  int status_ = 0;
  int out_ = -1;
  int err_ = -1;
};

// Runs `ort-ed arguments...` with `input` as its standard input.
CommandResult RunOrtEd(const std::vector<std::string>& arguments, const std::string& input = "");

}  // namespace ort_ed
