#include "tests/cli/run_command.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ort_ed {
namespace {

// Unlinked at once: vanishes with its last descriptor. A file, not a pipe, so that no output can block.
int AnonymousFile() {
  std::string name = (std::filesystem::temp_directory_path() / "ort_ed_cli_XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("cannot make " + name);
  unlink(name.c_str());
  return descriptor;
}

std::string Contents(int descriptor) {
  std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  if (pread(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) text.clear();
  return text;
}

int InputWith(const std::string& text) {
  const int descriptor = AnonymousFile();
  if (write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot write the input");
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

}  // namespace

CommandProcess::CommandProcess(const std::vector<std::string>& arguments, const std::string& input,
                               const std::vector<std::string>& launcher)
    : out_(AnonymousFile()), err_(AnonymousFile()) {
  const int in = InputWith(input);
  std::vector<char*> words;
  for (const std::string& word : launcher) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(const_cast<char*>(ORT_ED_COMMAND));
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  process_ = fork();
  if (process_ == 0) {
    dup2(in, STDIN_FILENO);
    dup2(out_, STDOUT_FILENO);
    dup2(err_, STDERR_FILENO);
    std::signal(SIGXFSZ, SIG_DFL);  // as a shell starts it, whatever a test ignores
    execvp(words[0], words.data());
    _exit(127);
  }
  close(in);
  if (process_ < 0) throw std::runtime_error("cannot fork");
}

std::string CommandProcess::Output() const { return Contents(out_); }

CommandProcess::~CommandProcess() {
  if (Running()) {
    Signal(SIGKILL);
    Wait();
  }
  close(out_);
  close(err_);
}

void CommandProcess::Signal(int signal) {
  if (process_ > 0) kill(process_, signal);
}

bool CommandProcess::Running() {
  if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
  return process_ > 0;
}

// Signals that it catches are blocked in all of its threads but one.
void CommandProcess::WaitUntilItListens() {
  const std::string path = "/proc/" + std::to_string(process_) + "/status", key = "SigBlk:\t";
  while (Running()) {
    std::ifstream status(path);
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(key) && (std::stoull(line.substr(key.size()), nullptr, 16) & 1u << (SIGINT - 1)))
        return;
    usleep(10000);
  }
}

CommandResult CommandProcess::Wait() {
  if (process_ > 0) waitpid(process_, &status_, 0);
  process_ = -1;
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), Contents(out_),
          Contents(err_)};
}

CommandResult RunOrtEd(const std::vector<std::string>& arguments, const std::string& input) {
  return CommandProcess(arguments, input).Wait();
}

}  // namespace ort_ed
